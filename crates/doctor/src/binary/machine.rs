//! The state of the walk through `PyInit_x`: registers, flags and memory, where each value is known
//! or not. Nothing is executed: this is arithmetic on what the file says.

use hashbrown::HashMap;
use iced_x86::{ConditionCode, Instruction, OpKind, Register};

use super::image::Image;
use super::slots::Memory;

/// Where the stack begins; it grows down, into nothing else.
pub const STACK: u64 = 0x7fff_0000_0000;
/// Where what the walk allocates lies.
const HEAP: u64 = 0x6000_0000_0000;

pub type Value = Option<u64>;
pub type Vector = [Option<u8>; 16];

/// Copied at each fork; belongs to one thread.
#[derive(Clone)]
pub struct Machine<'image> {
    pub image: &'image Image<'image>,
    pub ip: u64,
    /// By bytes: `setne al` leaves the others as they were.
    registers: [[Option<u8>; 8]; 16],
    vectors: [Vector; 16],
    pub flags: Flags,
    /// By words, since it is copied at each fork; the key is the address over eight.
    written: HashMap<u64, Word>,
    heap: u64,
}

/// Eight bytes, of which some were written, and of those some are known.
#[derive(Clone, Copy, Default)]
struct Word {
    bytes: [u8; 8],
    written: u8,
    known: u8,
}

/// Zero, sign, carry, overflow.
#[derive(Clone, Copy, Default)]
pub struct Flags {
    pub zero: Option<bool>,
    pub sign: Option<bool>,
    pub carry: Option<bool>,
    pub overflow: Option<bool>,
}

impl Flags {
    pub fn holds(self, condition: ConditionCode) -> Option<bool> {
        use ConditionCode as C;
        let not = |value: Option<bool>| value.map(|v| !v);
        let or = |a: Option<bool>, b: Option<bool>| match (a, b) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        };
        let differ = |a: Option<bool>, b: Option<bool>| Some(a? != b?);
        let less = differ(self.sign, self.overflow);
        match condition {
            C::o => self.overflow,
            C::no => not(self.overflow),
            C::b => self.carry,
            C::ae => not(self.carry),
            C::e => self.zero,
            C::ne => not(self.zero),
            C::be => or(self.carry, self.zero),
            C::a => not(or(self.carry, self.zero)),
            C::s => self.sign,
            C::ns => not(self.sign),
            C::l => less,
            C::ge => not(less),
            C::le => or(self.zero, less),
            C::g => not(or(self.zero, less)),
            _ => None, // parity
        }
    }
}

pub fn mask(value: u64, size: usize) -> u64 {
    if size >= 8 { value } else { value & ((1 << (8 * size)) - 1) }
}

impl<'image> Machine<'image> {
    pub fn at(image: &'image Image<'image>, entry: u64) -> Self {
        let mut machine = Self {
            image,
            ip: entry,
            registers: [[None; 8]; 16],
            vectors: [[None; 16]; 16],
            flags: Flags::default(),
            written: HashMap::new(),
            heap: HEAP,
        };
        machine.set(Register::RSP, Some(STACK));
        machine
    }

    /// The general register, as wide as its name says.
    pub fn get(&self, register: Register) -> Value {
        let bytes = self.registers.get(number(register)?)?;
        let first = usize::from(is_high(register));
        let mut word = [0; 8];
        for (byte, place) in bytes.iter().skip(first).zip(word.iter_mut().take(register.size())) {
            *place = (*byte)?;
        }
        Some(u64::from_le_bytes(word))
    }

    pub fn set(&mut self, register: Register, value: Value) {
        let Some(bytes) = number(register).and_then(|n| self.registers.get_mut(n)) else { return };
        let (first, size) = (usize::from(is_high(register)), register.size());
        let word = value.map(u64::to_le_bytes);
        for (k, byte) in bytes.iter_mut().skip(first).take(size).enumerate() {
            *byte = word.map(|word| word[k]);
        }
        // A write of four bytes clears the others.
        if size == 4 {
            bytes[4..].fill(Some(0));
        }
    }

    pub fn vector(&self, register: Register) -> Vector {
        number(register).and_then(|n| self.vectors.get(n)).copied().unwrap_or([None; 16])
    }

    pub fn set_vector(&mut self, register: Register, value: Vector) {
        if let Some(place) = number(register).and_then(|n| self.vectors.get_mut(n)) {
            *place = value;
        }
    }

    pub fn byte(&self, address: u64) -> Option<u8> {
        let (word, bit) = (self.written.get(&(address >> 3)), 1 << (address & 7));
        match word.filter(|word| word.written & bit != 0) {
            Some(word) => (word.known & bit != 0).then(|| word.bytes[(address & 7) as usize]),
            None => self.image.byte(address),
        }
    }

    pub fn read(&self, address: u64, size: usize) -> Value {
        let mut word = [0; 8];
        for (k, byte) in word.iter_mut().take(size.min(8)).enumerate() {
            *byte = self.byte(address.checked_add(k as u64)?)?;
        }
        Some(u64::from_le_bytes(word))
    }

    pub fn write(&mut self, address: u64, size: usize, value: Value) {
        let bytes = value.map(u64::to_le_bytes);
        for k in 0..size {
            let byte = bytes.and_then(|b| b.get(k).copied());
            self.write_byte(address.wrapping_add(k as u64), byte);
        }
    }

    pub fn write_byte(&mut self, address: u64, byte: Option<u8>) {
        let (word, bit) = (self.written.entry(address >> 3).or_default(), 1 << (address & 7));
        word.written |= bit;
        match byte {
            Some(byte) => {
                word.known |= bit;
                word.bytes[(address & 7) as usize] = byte;
            }
            None => word.known &= !bit,
        }
    }

    /// Fresh memory; `zeroed` as `calloc` gives it.
    pub fn allocate(&mut self, size: u64, zeroed: bool) -> u64 {
        let at = self.heap;
        self.heap += size.clamp(16, 1 << 20).next_multiple_of(16);
        if zeroed {
            for k in 0..size.min(1 << 14) {
                self.write_byte(at + k, Some(0));
            }
        }
        at
    }

    pub fn push(&mut self, value: Value) {
        if let Some(top) = self.get(Register::RSP) {
            let top = top.wrapping_sub(8);
            self.set(Register::RSP, Some(top));
            self.write(top, 8, value);
        }
    }

    pub fn pop(&mut self) -> Value {
        let top = self.get(Register::RSP)?;
        self.set(Register::RSP, Some(top.wrapping_add(8)));
        self.read(top, 8)
    }

    /// Of the one memory operand of an instruction. `None`: not known, or in a thread's storage.
    pub fn address(&self, instruction: &Instruction) -> Value {
        if matches!(instruction.segment_prefix(), Register::FS | Register::GS) {
            return None;
        }
        if instruction.is_ip_rel_memory_operand() {
            return Some(instruction.ip_rel_memory_address());
        }
        let mut address = instruction.memory_displacement64();
        if instruction.memory_base() != Register::None {
            address = address.wrapping_add(self.get(instruction.memory_base())?);
        }
        if instruction.memory_index() != Register::None {
            let index = self.get(instruction.memory_index())?;
            address = address
                .wrapping_add(index.wrapping_mul(u64::from(instruction.memory_index_scale())));
        }
        Some(address)
    }

    pub fn operand(&self, instruction: &Instruction, which: u32) -> Value {
        match instruction.op_kind(which) {
            OpKind::Register => self.get(instruction.op_register(which)),
            OpKind::Memory => {
                self.read(self.address(instruction)?, instruction.memory_size().size())
            }
            _ => instruction.try_immediate(which).ok(),
        }
    }

    pub fn set_operand(&mut self, instruction: &Instruction, which: u32, value: Value) {
        match instruction.op_kind(which) {
            OpKind::Register => self.set(instruction.op_register(which), value),
            OpKind::Memory => {
                // A store to a place that is not known is taken to miss what matters.
                if let Some(address) = self.address(instruction) {
                    self.write(address, instruction.memory_size().size(), value);
                }
            }
            _ => {}
        }
    }

    pub fn size(&self, instruction: &Instruction, which: u32) -> usize {
        match instruction.op_kind(which) {
            OpKind::Register => instruction.op_register(which).size(),
            OpKind::Memory => instruction.memory_size().size(),
            _ => 8,
        }
    }
}

impl Memory for Machine<'_> {
    fn word(&self, address: u64) -> Option<u64> {
        self.read(address, 8)
    }
}

impl Memory for Image<'_> {
    fn word(&self, address: u64) -> Option<u64> {
        Image::word(self, address)
    }
}

/// Of a general or a vector register among its kind.
fn number(register: Register) -> Option<usize> {
    let full = register.full_register();
    if full.is_gpr64() || full.is_zmm() || full.is_ymm() || full.is_xmm() {
        return Some(full.number());
    }
    None
}

fn is_high(register: Register) -> bool {
    matches!(register, Register::AH | Register::BH | Register::CH | Register::DH)
}
