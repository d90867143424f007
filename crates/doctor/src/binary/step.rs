//! One instruction of x86-64, as far as module initialisers need it. What is not here makes what it
//! writes unknown; nothing is guessed.

use iced_x86::{
    ConditionCode, Instruction, InstructionInfoFactory, Mnemonic as M, OpAccess, OpKind, Register,
};

use super::machine::{Flags, Machine, Value, Vector, mask};

/// Arithmetic and moves; calls, jumps and returns are the walk's.
pub fn step(machine: &mut Machine, instruction: &Instruction, info: &mut InstructionInfoFactory) {
    let size = machine.size(instruction, 0);
    match instruction.mnemonic() {
        M::Nop | M::Endbr64 | M::Endbr32 | M::Pause | M::Prefetcht0 | M::Mfence => {}
        M::Mov | M::Movzx => {
            let value = machine.operand(instruction, 1);
            machine.set_operand(instruction, 0, value);
        }
        M::Movsx | M::Movsxd => {
            let from = machine.size(instruction, 1);
            let value = machine.operand(instruction, 1).map(|v| extend(v, from));
            machine.set_operand(instruction, 0, value);
        }
        M::Lea => {
            let value = machine.address(instruction);
            machine.set_operand(instruction, 0, value);
        }
        M::Cdqe => {
            let value = machine.get(Register::EAX).map(|v| extend(v, 4));
            machine.set(Register::RAX, value);
        }
        M::Push => {
            let value = machine.operand(instruction, 0);
            machine.push(value);
        }
        M::Pop => {
            let value = machine.pop();
            machine.set_operand(instruction, 0, value);
        }
        M::Leave => {
            let frame = machine.get(Register::RBP);
            machine.set(Register::RSP, frame);
            let value = machine.pop();
            machine.set(Register::RBP, value);
        }
        M::Xchg => {
            let (a, b) = (machine.operand(instruction, 0), machine.operand(instruction, 1));
            machine.set_operand(instruction, 0, b);
            machine.set_operand(instruction, 1, a);
        }
        M::Cmpxchg => compare_exchange(machine, instruction, size),
        M::Xadd => {
            let (a, b) = (machine.operand(instruction, 0), machine.operand(instruction, 1));
            machine.set_operand(instruction, 1, a);
            machine.set_operand(instruction, 0, both(a, b, u64::wrapping_add));
            machine.flags = Flags::default();
        }
        M::Add | M::Sub | M::Cmp | M::And | M::Or | M::Xor | M::Test | M::Inc | M::Dec => {
            arithmetic(machine, instruction, size);
        }
        M::Shl | M::Shr | M::Sar | M::Not | M::Neg | M::Imul => other(machine, instruction, size),
        M::Movaps
        | M::Movups
        | M::Movdqa
        | M::Movdqu
        | M::Movapd
        | M::Movupd
        | M::Vmovaps
        | M::Vmovups
        | M::Vmovdqa
        | M::Vmovdqu
        | M::Movq
        | M::Movd
        | M::Movhps
        | M::Movlps
        | M::Punpcklqdq
        | M::Pxor
        | M::Xorps
        | M::Xorpd
        | M::Pinsrq => {
            vector(machine, instruction);
        }
        _ => match (instruction.condition_code(), instruction.op_count()) {
            (ConditionCode::None, _) => forget(machine, instruction, info),
            // setcc
            (condition, 1) => {
                let value = machine.flags.holds(condition).map(u64::from);
                machine.set_operand(instruction, 0, value);
            }
            // cmovcc
            (condition, 2) => {
                let value = match machine.flags.holds(condition) {
                    Some(true) => machine.operand(instruction, 1),
                    Some(false) => machine.operand(instruction, 0),
                    None => None,
                };
                machine.set_operand(instruction, 0, value);
            }
            _ => forget(machine, instruction, info),
        },
    }
}

fn both(a: Value, b: Value, of: fn(u64, u64) -> u64) -> Value {
    Some(of(a?, b?))
}

fn extend(value: u64, size: usize) -> u64 {
    let shift = 64 - 8 * size as u32;
    (((value << shift) as i64) >> shift) as u64
}

fn negative(value: u64, size: usize) -> bool {
    (extend(value, size) as i64) < 0
}

fn arithmetic(machine: &mut Machine, instruction: &Instruction, size: usize) {
    let mnemonic = instruction.mnemonic();
    let a = machine.operand(instruction, 0);
    let same = instruction.op0_kind() == OpKind::Register
        && instruction.op1_kind() == OpKind::Register
        && instruction.op0_register() == instruction.op1_register();
    let (a, b) = match mnemonic {
        // A register with itself is zero, whatever it holds.
        M::Xor | M::Sub if same => (Some(0), Some(0)),
        M::Inc | M::Dec => (a, Some(1)),
        _ => (a, machine.operand(instruction, 1)),
    };
    // Zero and anything is zero; all ones or anything is all ones.
    let absorbed = match mnemonic {
        M::And | M::Test if a == Some(0) || b == Some(0) => Some(0),
        M::Or if b.map(|b| mask(b, size)) == Some(mask(u64::MAX, size)) => Some(u64::MAX),
        _ => None,
    };
    let result = absorbed.or_else(|| {
        let (a, b) = (a?, b?);
        Some(match mnemonic {
            M::Add | M::Inc => a.wrapping_add(b),
            M::Sub | M::Cmp | M::Dec => a.wrapping_sub(b),
            M::And | M::Test => a & b,
            M::Or => a | b,
            _ => a ^ b,
        })
    });
    let result = result.map(|value| mask(value, size));
    let carry = machine.flags.carry;
    machine.flags = flags(mnemonic, a, b, result, size);
    match mnemonic {
        M::Inc | M::Dec => machine.flags.carry = carry,
        M::Cmp | M::Test => return,
        _ => {}
    }
    machine.set_operand(instruction, 0, result);
}

fn flags(mnemonic: M, a: Value, b: Value, result: Value, size: usize) -> Flags {
    let Some(result) = result else { return Flags::default() };
    let (zero, sign) = (result == 0, negative(result, size));
    let (carry, overflow) = match (mnemonic, a, b) {
        (M::Sub | M::Cmp | M::Dec, Some(a), Some(b)) => {
            let (a, b) = (mask(a, size), mask(b, size));
            let (an, bn) = (negative(a, size), negative(b, size));
            (Some(a < b), Some(an != bn && sign != an))
        }
        (M::Add | M::Inc, Some(a), Some(b)) => {
            let (an, bn) = (negative(a, size), negative(b, size));
            (Some(result < mask(a, size)), Some(an == bn && sign != an))
        }
        (M::Add | M::Inc | M::Sub | M::Cmp | M::Dec, ..) => (None, None),
        _ => (Some(false), Some(false)),
    };
    Flags { zero: Some(zero), sign: Some(sign), carry, overflow }
}

fn other(machine: &mut Machine, instruction: &Instruction, size: usize) {
    let a = machine.operand(instruction, 0);
    let last = instruction.op_count() - 1;
    let b = machine.operand(instruction, last);
    let bits = if size == 8 { 63 } else { 31 };
    let result = match instruction.mnemonic() {
        M::Not => a.map(|a| !a),
        M::Neg => a.map(|a| a.wrapping_neg()),
        M::Shl => a.zip(b).map(|(a, b)| a << (b & bits)),
        M::Shr => a.zip(b).map(|(a, b)| a >> (b & bits)),
        M::Sar => a.zip(b).map(|(a, b)| ((extend(a, size) as i64) >> (b & bits)) as u64),
        _ if instruction.op_count() == 3 => {
            both(machine.operand(instruction, 1), b, u64::wrapping_mul)
        }
        _ if instruction.op_count() == 2 => both(a, b, u64::wrapping_mul),
        _ => None,
    };
    machine.flags = Flags::default();
    if instruction.mnemonic() == M::Imul && instruction.op_count() == 1 {
        machine.set(Register::RDX, None);
        machine.set(Register::RAX, None);
        return;
    }
    machine.set_operand(instruction, 0, result.map(|value| mask(value, size)));
    if instruction.mnemonic() == M::Not {
        return;
    }
    if let Some(result) = result.map(|value| mask(value, size)) {
        machine.flags.zero = Some(result == 0);
        machine.flags.sign = Some(negative(result, size));
    }
}

fn compare_exchange(machine: &mut Machine, instruction: &Instruction, size: usize) {
    let accumulator = match size {
        1 => Register::AL,
        2 => Register::AX,
        4 => Register::EAX,
        _ => Register::RAX,
    };
    let there = machine.operand(instruction, 0);
    let expected = machine.get(accumulator);
    machine.flags = Flags::default();
    match there.zip(expected) {
        Some((there, expected)) if there == expected => {
            let value = machine.operand(instruction, 1);
            machine.set_operand(instruction, 0, value);
            machine.flags.zero = Some(true);
        }
        Some((there, _)) => {
            machine.set(accumulator, Some(there));
            machine.flags.zero = Some(false);
        }
        None => {
            machine.set_operand(instruction, 0, None);
            machine.set(accumulator, None);
        }
    }
}

/// Sixteen bytes of an operand; of a narrower one the rest is zero.
fn sixteen(machine: &Machine, instruction: &Instruction, which: u32) -> Vector {
    match instruction.op_kind(which) {
        OpKind::Register if instruction.op_register(which).is_vector_register() => {
            machine.vector(instruction.op_register(which))
        }
        OpKind::Register => words(machine.get(instruction.op_register(which)), Some(0)),
        OpKind::Memory => {
            let mut out = [Some(0); 16];
            let address = machine.address(instruction);
            for (k, byte) in out.iter_mut().enumerate().take(instruction.memory_size().size()) {
                *byte = address.and_then(|a| machine.byte(a.wrapping_add(k as u64)));
            }
            out
        }
        _ => [None; 16],
    }
}

fn words(low: Value, high: Value) -> Vector {
    let mut out = [None; 16];
    for (half, word) in [low, high].into_iter().enumerate() {
        for k in 0..8 {
            out[8 * half + k] = word.map(|w| w.to_le_bytes()[k]);
        }
    }
    out
}

fn vector(machine: &mut Machine, instruction: &Instruction) {
    let last = instruction.op_count() - 1;
    let wide = instruction.op0_register().is_ymm() || instruction.op0_register().is_zmm();
    let from = sixteen(machine, instruction, last.min(1));
    let old = sixteen(machine, instruction, 0);
    let mnemonic = instruction.mnemonic();
    let value = match mnemonic {
        _ if wide || instruction.memory_size().size() > 16 => [None; 16],
        M::Pxor | M::Xorps | M::Xorpd => {
            if instruction.op0_register() == instruction.op1_register() {
                [Some(0); 16]
            } else {
                [None; 16]
            }
        }
        M::Movhps if instruction.op0_kind() == OpKind::Memory => {
            let mut out = [None; 16];
            out[..8].copy_from_slice(&from[8..]);
            out
        }
        M::Movhps | M::Punpcklqdq | M::Pinsrq => {
            let mut out = old;
            out[8..].copy_from_slice(&from[..8]);
            out
        }
        M::Movlps if instruction.op0_kind() == OpKind::Register => {
            let mut out = old;
            out[..8].copy_from_slice(&from[..8]);
            out
        }
        M::Movq | M::Movd => {
            let size = if mnemonic == M::Movq { 8 } else { 4 };
            let mut out = [Some(0); 16];
            out[..size].copy_from_slice(&from[..size]);
            out
        }
        _ => from,
    };
    match instruction.op0_kind() {
        OpKind::Register if instruction.op0_register().is_vector_register() => {
            machine.set_vector(instruction.op0_register(), value);
        }
        OpKind::Register => {
            let mut word = [0; 8];
            let known = value[..8].iter().zip(&mut word).all(|(byte, place)| {
                *place = byte.unwrap_or(0);
                byte.is_some()
            });
            machine.set_operand(instruction, 0, known.then(|| u64::from_le_bytes(word)));
        }
        _ => {
            if let Some(address) = machine.address(instruction) {
                for k in 0..instruction.memory_size().size() {
                    let byte = value.get(k).copied().flatten();
                    machine.write_byte(address.wrapping_add(k as u64), byte);
                }
            }
        }
    }
}

/// An instruction that is not modelled: what it writes is not known.
fn forget(machine: &mut Machine, instruction: &Instruction, info: &mut InstructionInfoFactory) {
    let written = |access| {
        matches!(
            access,
            OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite
        )
    };
    let address = machine.address(instruction);
    let info = info.info(instruction);
    for used in info.used_registers().iter().filter(|used| written(used.access())) {
        let register = used.register();
        if register.is_vector_register() {
            machine.set_vector(register, [None; 16]);
        } else if register.full_register() != Register::RSP {
            machine.set(register, None);
        }
    }
    let writes = info.used_memory().iter().any(|used| written(used.access()));
    if let (true, Some(address)) = (writes, address) {
        machine.write(address, instruction.memory_size().size().min(64), None);
    }
    machine.flags = Flags::default();
}
