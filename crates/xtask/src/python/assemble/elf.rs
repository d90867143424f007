//! The one change to the executable: its start-up code is told to call another `main`.
//!
//! A non-PIE x86-64 program passes the address of `main` to `__libc_start_main` with
//! `mov rdi, imm32` (48 c7 c7 and four bytes) in its first instructions. The wheel's executable
//! exports the whole C API, so the address of `Py_BytesMain`, which has main's signature, is in
//! its dynamic symbol table.

use anyhow::{Context, Result, bail};
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectKind, ObjectSection, ObjectSymbol};

const MOV_RDI_IMM32: [u8; 3] = [0x48, 0xc7, 0xc7];
/// `_start` is 38 to 47 bytes long in every glibc of the last decade.
const START_LENGTH: usize = 48;

/// Returns the program with `_start` calling `symbol` in place of `main`.
pub fn retarget_main(program: &[u8], symbol: &str) -> Result<Vec<u8>> {
    let file = ElfFile64::<Endianness>::parse(program).context("not a 64-bit ELF file")?;
    if file.architecture() != object::Architecture::X86_64 {
        bail!("built for {:?}, not for x86-64", file.architecture());
    }
    if file.kind() != ObjectKind::Executable {
        bail!("a {:?} file; only a non-PIE executable has main's address in its code", file.kind());
    }
    let target = file
        .dynamic_symbols()
        .find(|s| s.name() == Ok(symbol) && s.is_definition())
        .with_context(|| format!("it does not export {symbol}"))?
        .address();
    let address = u32::try_from(target)
        .ok()
        // The operand is sign-extended: the upper half of 32 bits cannot be reached.
        .filter(|a| *a < 1 << 31)
        .with_context(|| format!("{symbol} lies at {target:#x}, out of the operand's reach"))?;

    let start = offset_of(&file, file.entry())?;
    let code = program.get(start..start + START_LENGTH).context("_start ends with the file")?;
    let places: Vec<usize> = code
        .windows(MOV_RDI_IMM32.len())
        .enumerate()
        .filter(|(_, window)| *window == MOV_RDI_IMM32)
        .map(|(at, _)| at)
        .collect();
    let [at] = places[..] else {
        bail!(
            "expected `mov rdi, imm32` exactly once in the first {START_LENGTH} bytes at the entry \
             point, found it {} times",
            places.len()
        );
    };
    let mut patched = program.to_vec();
    let operand = start + at + MOV_RDI_IMM32.len();
    patched
        .get_mut(operand..operand + 4)
        .context("the operand lies past the end of the file")?
        .copy_from_slice(&address.to_le_bytes());
    Ok(patched)
}

fn offset_of(file: &ElfFile64<Endianness>, address: u64) -> Result<usize> {
    let section = file
        .sections()
        .find(|s| (s.address()..s.address() + s.size()).contains(&address))
        .with_context(|| format!("no section holds the entry point {address:#x}"))?;
    let (offset, _) =
        section.file_range().context("the entry point's section is not in the file")?;
    Ok((offset + address - section.address()) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_it_does_not_recognise() {
        let error = retarget_main(b"MZ not an ELF file", "main").unwrap_err();
        assert!(format!("{error:#}").contains("not a 64-bit ELF file"), "{error:#}");
        // This test program is PIE, as everything that rustc links here.
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let error = retarget_main(&own, "main").unwrap_err();
        assert!(format!("{error:#}").contains("non-PIE"), "{error:#}");
    }

    /// Compiles a real non-PIE program with two mains and sees the other one run.
    #[test]
    fn the_patched_program_runs_the_other_main() {
        let dir = tempfile::tempdir().unwrap();
        let source = dir.path().join("two.c");
        std::fs::write(
            &source,
            "int other(int c, char **v) { (void)c; (void)v; return 7; }\n\
             int main(int c, char **v) { (void)c; (void)v; return 3; }\n",
        )
        .unwrap();
        let program = dir.path().join("two");
        let status = std::process::Command::new("cc")
            .args(["-O1", "-no-pie", "-fno-pie", "-rdynamic", "-o"])
            .args([&program, &source])
            .status()
            .unwrap();
        assert!(status.success());
        let exit = |p: &std::path::Path| std::process::Command::new(p).status().unwrap().code();
        assert_eq!(exit(&program), Some(3));

        let bytes = std::fs::read(&program).unwrap();
        let patched = dir.path().join("patched");
        std::fs::write(&patched, retarget_main(&bytes, "other").unwrap()).unwrap();
        super::super::pip::executable(&patched).unwrap();
        assert_eq!(exit(&patched), Some(7));

        let error = retarget_main(&bytes, "absent").unwrap_err();
        assert!(format!("{error:#}").contains("does not export absent"), "{error:#}");

        // The instruction twice, or not at all, is not the start-up code that we know.
        let file = ElfFile64::<Endianness>::parse(&bytes[..]).unwrap();
        let start = offset_of(&file, file.entry()).unwrap();
        let mut twice = bytes.clone();
        twice[start + 40..start + 43].copy_from_slice(&MOV_RDI_IMM32);
        let error = retarget_main(&twice, "other").unwrap_err();
        assert!(format!("{error:#}").contains("found it 2 times"), "{error:#}");
        let mut none = bytes;
        none[start..start + START_LENGTH].fill(0x90);
        let error = retarget_main(&none, "other").unwrap_err();
        assert!(format!("{error:#}").contains("found it 0 times"), "{error:#}");
    }
}
