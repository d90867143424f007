//! A shared library as the loader would map it: segments at their addresses, relocations applied.
//! What the library imports lies at made-up addresses, so that a call to it can be named.

use std::collections::HashMap;

use object::read::elf::{ElfFile64, SectionHeader};
use object::{
    Architecture, Endianness, Object, ObjectSegment, ObjectSymbol, RelocationFlags,
    RelocationTarget, SymbolIndex, elf,
};

use super::Error;

/// Where the image is mapped; a wrong address in it is then never a small number.
const BASE: u64 = 0x10_0000_0000;
/// Where imports are; nothing can be read there.
const IMPORTS: u64 = 0x7000_0000_0000;
const IMPORT_SIZE: u64 = 4096;
/// A library that asks for more is refused: CUDA's largest have about 3 GiB.
const LARGEST: u64 = 4 << 30;
const SEGMENT_LARGEST: u64 = 1 << 30;

/// Immutable once made.
pub struct Image<'data> {
    segments: Vec<Segment<'data>>,
    /// Eight bytes that the loader writes, by address.
    relocated: HashMap<u64, u64>,
    imports: Vec<String>,
    exports: HashMap<String, u64>,
    pub architecture: Architecture,
}

struct Segment<'data> {
    from: u64,
    size: u64,
    bytes: &'data [u8],
}

impl<'data> Image<'data> {
    /// Maps an ELF file of 64 bits, little end first. Other files are refused by name.
    pub fn load(bytes: &'data [u8]) -> Result<Self, Error> {
        let file = ElfFile64::<Endianness>::parse(bytes)?;
        if !file.is_little_endian() {
            return Err(Error::Unread("an ELF file with the big end first"));
        }
        let mut segments = Vec::new();
        for segment in file.segments() {
            let (from, size) = (segment.address(), segment.size());
            if size > SEGMENT_LARGEST || from > LARGEST {
                return Err(Error::Malformed("a segment is larger than any library's".into()));
            }
            segments.push(Segment { from: BASE + from, size, bytes: segment.data()? });
        }
        let mut image = Self {
            segments,
            relocated: HashMap::new(),
            imports: Vec::new(),
            exports: HashMap::new(),
            architecture: file.architecture(),
        };
        let mut places = HashMap::new();
        for symbol in file.dynamic_symbols() {
            let name = String::from_utf8_lossy(symbol.name_bytes()?).into_owned();
            let address = if symbol.is_undefined() {
                image.imports.push(name);
                IMPORTS + IMPORT_SIZE * image.imports.len() as u64
            } else {
                let address = BASE.wrapping_add(symbol.address());
                image.exports.insert(name, address);
                address
            };
            places.insert(symbol.index(), address);
        }
        image.relocate(&file, &places)?;
        Ok(image)
    }

    fn relocate(
        &mut self,
        file: &ElfFile64<'data, Endianness>,
        places: &HashMap<SymbolIndex, u64>,
    ) -> Result<(), Error> {
        for (at, relocation) in file.dynamic_relocations().into_iter().flatten() {
            let RelocationFlags::Elf { r_type } = relocation.flags() else { continue };
            let addend = relocation.addend();
            let symbol = match relocation.target() {
                RelocationTarget::Symbol(index) => places.get(&index).copied(),
                _ => None,
            };
            let value = match (self.architecture, r_type) {
                (Architecture::X86_64, elf::R_X86_64_RELATIVE)
                | (Architecture::Aarch64, elf::R_AARCH64_RELATIVE) => {
                    BASE.wrapping_add_signed(addend)
                }
                (
                    Architecture::X86_64,
                    elf::R_X86_64_64 | elf::R_X86_64_GLOB_DAT | elf::R_X86_64_JUMP_SLOT,
                )
                | (
                    Architecture::Aarch64,
                    elf::R_AARCH64_ABS64 | elf::R_AARCH64_GLOB_DAT | elf::R_AARCH64_JUMP_SLOT,
                ) => {
                    let Some(symbol) = symbol else { continue };
                    symbol.wrapping_add_signed(addend)
                }
                _ => continue, // of threads' storage and of indirect functions: not read here
            };
            self.relocated.insert(BASE.wrapping_add(at), value);
        }
        // The packed form of RELATIVE, without addends: the word that is there is the addend.
        let (endian, data) = (file.endian(), file.data());
        for section in file.elf_section_table().iter() {
            let Some(words) = section.relr(endian, data)? else { continue };
            for at in words {
                let at = BASE.wrapping_add(at);
                if let Some(there) = self.stored(at) {
                    self.relocated.insert(at, BASE.wrapping_add(there));
                }
            }
        }
        Ok(())
    }

    pub fn export(&self, name: &str) -> Option<u64> {
        self.exports.get(name).copied()
    }

    pub fn exports(&self) -> impl Iterator<Item = &str> {
        self.exports.keys().map(String::as_str)
    }

    pub fn imports(&self, name: &str) -> bool {
        self.imports.iter().any(|one| one == name)
    }

    /// The import that is at a made-up address.
    pub fn import_at(&self, address: u64) -> Option<&str> {
        let index = address.checked_sub(IMPORTS)? / IMPORT_SIZE;
        let name = self.imports.get(usize::try_from(index).ok()?.checked_sub(1)?)?;
        Some(name)
    }

    /// One byte as the loader leaves it.
    pub fn byte(&self, address: u64) -> Option<u8> {
        // A relocated word may begin up to seven bytes before.
        for back in 0..8 {
            let Some(at) = address.checked_sub(back) else { break };
            if let Some(word) = self.relocated.get(&at) {
                return Some(word.to_le_bytes()[back as usize]);
            }
        }
        let segment = self.segment(address)?;
        let offset = usize::try_from(address - segment.from).ok()?;
        Some(segment.bytes.get(offset).copied().unwrap_or(0))
    }

    /// The word at an address, where the loader has one.
    pub fn word(&self, address: u64) -> Option<u64> {
        match self.relocated.get(&address) {
            Some(word) => Some(*word),
            None => self.stored(address),
        }
    }

    fn stored(&self, address: u64) -> Option<u64> {
        let mut word = [0; 8];
        for (k, byte) in word.iter_mut().enumerate() {
            let address = address.checked_add(k as u64)?;
            let segment = self.segment(address)?;
            let offset = usize::try_from(address - segment.from).ok()?;
            *byte = segment.bytes.get(offset).copied().unwrap_or(0);
        }
        Some(u64::from_le_bytes(word))
    }

    /// The bytes from an address to the end of its segment: what a decoder reads.
    pub fn bytes_from(&self, address: u64) -> Option<&'data [u8]> {
        let segment = self.segment(address)?;
        segment.bytes.get(usize::try_from(address - segment.from).ok()?..)
    }

    /// A C string of at most 255 bytes of UTF-8.
    pub fn text(&self, address: u64) -> Option<&'data str> {
        let bytes = self.bytes_from(address)?;
        let end = bytes.iter().take(256).position(|&byte| byte == 0)?;
        std::str::from_utf8(&bytes[..end]).ok()
    }

    /// Words that the loader writes, and where.
    pub fn relocated(&self) -> impl Iterator<Item = (u64, u64)> {
        self.relocated.iter().map(|(at, value)| (*at, *value))
    }

    fn segment(&self, address: u64) -> Option<&Segment<'data>> {
        self.segments.iter().find(|one| address >= one.from && address - one.from < one.size)
    }
}
