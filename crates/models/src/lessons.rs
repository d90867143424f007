//! The lessons' models, each from its lesson's folder.

use crate::run::Model;

#[path = "../../attach-once/model.rs"]
mod attach_once;
#[path = "../../detach-before-block/model.rs"]
mod detach_before_block;
#[path = "../../eager-init/model.rs"]
mod eager_init;
#[path = "../../engine-singleton/model.rs"]
mod engine_singleton;
#[path = "../../gil-declaration/model.rs"]
mod gil_declaration;
#[path = "../../import-cache/model.rs"]
mod import_cache;
#[path = "../../interp-model/model.rs"]
mod own;
#[path = "../../string-fast-path/model.rs"]
mod string_fast_path;
#[path = "../../udf-registry/model.rs"]
mod udf_registry;

pub const LESSONS: &[(&str, &[Model])] = &[
    ("gil-declaration", gil_declaration::MODELS),
    ("import-cache", import_cache::MODELS),
    ("udf-registry", udf_registry::MODELS),
    ("engine-singleton", engine_singleton::MODELS),
    ("eager-init", eager_init::MODELS),
    ("detach-before-block", detach_before_block::MODELS),
    ("attach-once", attach_once::MODELS),
    ("string-fast-path", string_fast_path::MODELS),
    ("interp-model", own::MODELS),
];
