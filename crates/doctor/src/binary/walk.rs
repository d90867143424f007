//! Walks through `PyInit_x` without running it, as far as what it tells CPython about the GIL:
//! the definition given to `PyModuleDef_Init`, or the value given to `PyUnstable_Module_SetGIL`.
//!
//! Where a branch depends on what is not known, both sides are walked, within bounds. What CPython's
//! functions return is taken to be success, since a module that fails to load declares nothing.

use std::collections::{HashMap, HashSet};

use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpKind,
    Register,
};

use super::image::Image;
use super::imports::{self, Then};
use super::machine::{Machine, Value};
use super::slots::{self, Gil, Layout};
use super::step::step;

/// What one path through the initialiser came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A definition for multi-phase initialisation, and what it says; `None`: not readable.
    Definition(Option<Gil>),
    /// `PyUnstable_Module_SetGIL` with this value; `None`: not known.
    SetGil(Option<bool>),
    /// A module was made at once, and nothing was said.
    Single,
}

// The largest initialisers of C++ register hundreds of types before they tell.
const STEPS: u32 = 3_000_000;
const PATHS: usize = 20_000;
/// Once a path has told, others are walked for so long: one of them may tell otherwise.
const STEPS_AFTER: u32 = 60_000;
const FORKS_AT_ONE_PLACE: u32 = 6;
const DEPTH: usize = 64;
const EXIT: u64 = 0x7fff_ffff_f000;

struct Path<'image> {
    machine: Machine<'image>,
    depth: usize,
    single: bool,
}

/// All that the paths from `entry` came to, each once. Bounded in steps and paths.
pub fn from_init(
    image: &Image<'_>,
    entry: u64,
    stem: &str,
    hint: Layout,
    minor: u32,
) -> Vec<Found> {
    let mut found = Vec::new();
    walk(image, entry, minor, |end| {
        let one = match end {
            End::Definition(machine, def) => {
                let said = def.and_then(|def| {
                    let layout = layout_of(machine, def, stem, hint);
                    slots::of_definition(machine, def, layout)
                });
                Some(Found::Definition(said))
            }
            End::SetGil(value) => Some(Found::SetGil(match value {
                Some(0) => Some(false),
                Some(1) => Some(true),
                _ => None,
            })),
            End::Returned { single: true, .. } => Some(Found::Single),
            End::Returned { .. } => None,
        };
        let told = matches!(one, Some(Found::Definition(Some(_)) | Found::SetGil(Some(_))));
        if let Some(one) = one.filter(|one| !found.contains(one)) {
            found.push(one);
        }
        told
    });
    found
}

/// The layout in which the definition has the module's name: a file without a tag does not say for
/// which build it was compiled.
fn layout_of(machine: &Machine<'_>, def: u64, stem: &str, hint: Layout) -> Layout {
    let named = |layout: &Layout| {
        let text = slots::name(machine, def, *layout).and_then(|at| machine.image.text(at));
        text.is_some_and(|text| text.rsplit('.').next() == Some(stem))
    };
    [hint, Layout::FreeThreaded, Layout::GilEnabled].into_iter().find(named).unwrap_or(hint)
}

/// What the slots say that `PyModExport_x` (3.15) returns; `None`: not readable.
pub fn from_export(image: &Image<'_>, entry: u64, minor: u32) -> Option<Gil> {
    let mut said = None;
    walk(image, entry, minor, |end| {
        if let End::Returned { machine, value: Some(value), .. } = end {
            said = said.or_else(|| slots::of_slots(machine, value));
        }
        said.is_some()
    });
    said
}

enum End<'path, 'image> {
    Definition(&'path Machine<'image>, Value),
    SetGil(Value),
    Returned { machine: &'path Machine<'image>, value: Value, single: bool },
}

fn walk<'image>(
    image: &'image Image<'image>,
    entry: u64,
    minor: u32,
    mut end: impl FnMut(End<'_, 'image>) -> bool,
) {
    let mut machine = Machine::at(image, entry);
    machine.push(Some(EXIT));
    let sets_later = image.imports("PyUnstable_Module_SetGIL");
    let mut open = Open::default();
    open.fresh.push(Path { machine, depth: 0, single: false });
    let mut info = InstructionInfoFactory::new();
    let (mut steps, mut walked, mut limit) = (0, 0, STEPS);
    while let Some(mut path) = open.next() {
        walked += 1;
        if walked > PATHS {
            return;
        }
        loop {
            steps += 1;
            if steps > limit {
                return;
            }
            if path.machine.ip == EXIT {
                let value = path.machine.get(Register::RAX);
                if end(End::Returned { machine: &path.machine, value, single: path.single }) {
                    limit = limit.min(steps + STEPS_AFTER);
                }
                break;
            }
            let Some(instruction) = decode(image, path.machine.ip) else { break };
            let at = path.machine.ip;
            open.seen.insert(at);
            path.machine.ip = instruction.next_ip();
            let target = match instruction.flow_control() {
                FlowControl::Next => {
                    step(&mut path.machine, &instruction, &mut info);
                    continue;
                }
                FlowControl::UnconditionalBranch => Some(instruction.near_branch_target()),
                FlowControl::IndirectBranch | FlowControl::IndirectCall => {
                    target_of(&path.machine, &instruction)
                }
                FlowControl::Call => Some(instruction.near_branch_target()),
                FlowControl::Return => {
                    path.depth = path.depth.saturating_sub(1);
                    match path.machine.pop() {
                        Some(back) => path.machine.ip = back,
                        None => break,
                    }
                    continue;
                }
                FlowControl::ConditionalBranch => {
                    branch(&mut path, &instruction, at, &mut open);
                    continue;
                }
                _ => break, // ud2, hlt, a system call
            };
            let call =
                matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall);
            match target {
                Some(target) if image.import_at(target).is_some() => {
                    let name = image.import_at(target).unwrap_or_default();
                    match imports::call(&mut path.machine, name, minor) {
                        Then::Definition(def) => {
                            if end(End::Definition(&path.machine, def)) {
                                limit = limit.min(steps + STEPS_AFTER);
                            }
                            break;
                        }
                        Then::SetGil(value) => {
                            if end(End::SetGil(value)) {
                                limit = limit.min(steps + STEPS_AFTER);
                            }
                            break;
                        }
                        Then::Single if !sets_later => {
                            let machine = &path.machine;
                            end(End::Returned { machine, value: None, single: true });
                            break;
                        }
                        Then::Single => path.single = true,
                        Then::Never => break,
                        Then::Back => {}
                    }
                    if !call && !back(&mut path) {
                        break;
                    }
                }
                Some(target) if call && path.depth < DEPTH => {
                    let back = path.machine.ip;
                    path.machine.push(Some(back));
                    path.depth += 1;
                    path.machine.ip = target;
                }
                Some(target) if !call => path.machine.ip = target,
                _ => {
                    // Nobody knows where to: as a function that returns something.
                    imports::forget(&mut path.machine, None);
                    if !call && !back(&mut path) {
                        break;
                    }
                }
            }
        }
    }
}

/// A jump to a function is a call whose return is the caller's.
fn back(path: &mut Path<'_>) -> bool {
    path.depth = path.depth.saturating_sub(1);
    let to = path.machine.pop();
    path.machine.ip = to.unwrap_or(0);
    to.is_some()
}

/// Paths that are still to be walked. Those that lead to code which no path has seen come first: an
/// initialiser tells CPython at its end, behind branches of which most lead to an error.
#[derive(Default)]
struct Open<'image> {
    fresh: Vec<Path<'image>>,
    stale: Vec<Path<'image>>,
    seen: HashSet<u64>,
    forks: HashMap<u64, u32>,
}

impl<'image> Open<'image> {
    fn next(&mut self) -> Option<Path<'image>> {
        self.fresh.pop().or_else(|| self.stale.pop())
    }
}

fn branch<'image>(
    path: &mut Path<'image>,
    instruction: &Instruction,
    at: u64,
    open: &mut Open<'image>,
) {
    let target = instruction.near_branch_target();
    match path.machine.flags.holds(instruction.condition_code()) {
        Some(true) => path.machine.ip = target,
        Some(false) => {}
        None => {
            let (mut here, mut other) = (path.machine.ip, target);
            if open.seen.contains(&here) && !open.seen.contains(&other) {
                (here, other) = (other, here);
            }
            let fresh = !open.seen.contains(&other);
            let times = open.forks.entry(at).or_default();
            *times += 1;
            path.machine.ip = here;
            if fresh || *times <= FORKS_AT_ONE_PLACE {
                let mut machine = path.machine.clone();
                machine.ip = other;
                let fork = Path { machine, depth: path.depth, single: path.single };
                if fresh { open.fresh.push(fork) } else { open.stale.push(fork) }
            }
        }
    }
}

fn target_of(machine: &Machine<'_>, instruction: &Instruction) -> Value {
    match instruction.op0_kind() {
        OpKind::Register | OpKind::Memory => machine.operand(instruction, 0),
        _ => None,
    }
}

fn decode(image: &Image<'_>, ip: u64) -> Option<Instruction> {
    let bytes = image.bytes_from(ip)?;
    let bytes = &bytes[..bytes.len().min(15)];
    let mut decoder = Decoder::with_ip(64, bytes, ip, DecoderOptions::NONE);
    let instruction = decoder.decode();
    (instruction.mnemonic() != Mnemonic::INVALID).then_some(instruction)
}
