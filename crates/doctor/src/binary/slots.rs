//! What a module's definition says of the GIL: `PyModuleDef` of both builds, and the slots of 3.15.
//!
//! Source of the layouts: `moduleobject.h`, `slots.h` and `object.h` of CPython 3.14 and 3.15.

/// Reads the word and the byte at an address.
pub trait Memory {
    fn word(&self, address: u64) -> Option<u64>;
}

/// What the definition declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gil {
    /// `Py_mod_gil` is `Py_MOD_GIL_NOT_USED`.
    NotUsed,
    /// `Py_mod_gil` is `Py_MOD_GIL_USED`.
    Used,
    /// There is no such slot: as if used.
    Absent,
}

/// Of a `PyModuleDef` before its name: the object's header (16 bytes on the GIL-enabled build, 32 on
/// the free-threaded one), then `m_init`, `m_index` and `m_copy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    GilEnabled,
    FreeThreaded,
}

impl Layout {
    /// Where the name is, in bytes from the start.
    pub fn name(self) -> u64 {
        match self {
            Layout::GilEnabled => 16 + 24,
            Layout::FreeThreaded => 32 + 24,
        }
    }
}

// ANCHOR: slots
/// 3.13 and 3.14 number the slots one way, 3.15 has new numbers and still knows the old ones.
const MOD_GIL: [u64; 2] = [4, 87];
/// A slot whose value is another array of slots (3.15).
const MOD_SLOTS: u64 = 94;
/// CPython 3.15 has fewer than 128 ids; an array with another id is none.
const LAST_ID: u64 = 128;
const MOST: u64 = 64;

/// The name in a definition at `def`.
pub fn name(memory: &impl Memory, def: u64, layout: Layout) -> Option<u64> {
    memory.word(def.checked_add(layout.name())?)
}

/// What the definition at `def` declares; `None` if it cannot be read.
pub fn of_definition(memory: &impl Memory, def: u64, layout: Layout) -> Option<Gil> {
    let slots = memory.word(def.checked_add(layout.name() + 32)?)?;
    if slots == 0 {
        return Some(Gil::Absent);
    }
    of_slots(memory, slots)
}

/// What an array of slots declares. `{int, void*}` of 3.14 and `PySlot` of 3.15 have the id in the
/// low 16 bits of the first word and the value in the second.
pub fn of_slots(memory: &impl Memory, slots: u64) -> Option<Gil> {
    nested(memory, slots, 3)
}

fn nested(memory: &impl Memory, slots: u64, depth: u32) -> Option<Gil> {
    let mut at = slots;
    let mut found = Gil::Absent;
    for _ in 0..MOST {
        let id = memory.word(at)? & 0xffff;
        let value = memory.word(at.checked_add(8)?);
        if id == 0 {
            return Some(found);
        }
        if id > LAST_ID {
            return None;
        }
        if MOD_GIL.contains(&id) {
            found = match value? {
                0 => Gil::Used,
                1 => Gil::NotUsed,
                _ => return None,
            };
        }
        if id == MOD_SLOTS && depth > 0 {
            match nested(memory, value?, depth - 1)? {
                Gil::Absent => {}
                said => found = said,
            }
        }
        at = at.checked_add(16)?;
    }
    None
}
// ANCHOR_END: slots

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    struct Words(HashMap<u64, u64>);

    impl Memory for Words {
        fn word(&self, address: u64) -> Option<u64> {
            self.0.get(&address).copied()
        }
    }

    fn slots(of: &[(u64, u64)]) -> Words {
        let words = of.iter().enumerate().flat_map(|(k, &(id, value))| {
            let at = 0x1000 + 16 * k as u64;
            [(at, id), (at + 8, value)]
        });
        Words(words.collect())
    }

    #[test]
    fn the_slot_is_read_by_its_old_and_its_new_number() {
        let said = |of: &[(u64, u64)]| of_slots(&slots(of), 0x1000);
        assert_eq!(said(&[(2, 77), (4, 1), (0, 0)]), Some(Gil::NotUsed));
        assert_eq!(said(&[(2, 77), (4, 0), (0, 0)]), Some(Gil::Used));
        assert_eq!(said(&[(2, 77), (0, 0)]), Some(Gil::Absent));
        // 3.15: the id, flags beside it.
        assert_eq!(said(&[(87 | 4 << 16, 1), (0, 0)]), Some(Gil::NotUsed));
    }

    #[test]
    fn what_is_no_array_of_slots_is_not_read_as_one() {
        let said = |of: &[(u64, u64)]| of_slots(&slots(of), 0x1000);
        assert_eq!(said(&[(4, 2), (0, 0)]), None, "a value that is neither");
        assert_eq!(said(&[(0x7f45, 1), (0, 0)]), None, "an id that is none");
        assert_eq!(said(&[(2, 77)]), None, "no end");
    }

    #[test]
    fn a_definition_has_its_slots_behind_the_header_of_its_build() {
        for (layout, place) in [(Layout::GilEnabled, 72), (Layout::FreeThreaded, 88)] {
            let mut words = slots(&[(4, 1), (0, 0)]);
            words.0.insert(0x4000 + place, 0x1000);
            assert_eq!(of_definition(&words, 0x4000, layout), Some(Gil::NotUsed));
            words.0.insert(0x4000 + place, 0);
            assert_eq!(of_definition(&words, 0x4000, layout), Some(Gil::Absent));
        }
    }

    #[test]
    fn slots_in_slots() {
        let mut words = slots(&[(94, 0x2000), (0, 0)]);
        words.0.extend([(0x2000, 87), (0x2008, 1), (0x2010, 0), (0x2018, 0)]);
        assert_eq!(of_slots(&words, 0x1000), Some(Gil::NotUsed));
    }
}
