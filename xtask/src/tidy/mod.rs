//! `cargo xtask tidy`: the rules of this repository that no compiler checks.
//!
//! Each rule is a pure function from a [`repository::Repository`] to a list of problems, in a file
//! of its name; `runner` lists and runs them; `tests` shows that each can fail. An exception is a
//! row with a reason in a table beside its rule; a row that is no longer needed is a problem too.

mod allowance;
mod banned_code;
mod code_map;
mod comment_width;
mod error_pages;
mod file_length;
mod imports;
mod language;
mod layers;
mod links;
mod machine_paths;
mod markdown;
mod module_cycles;
mod module_docs;
mod names;
mod numbered_lists;
mod repository;
mod runner;
mod rust_text;
mod sleeping;
mod symbols;
mod test_names;
#[cfg(test)]
mod tests;
mod type_size;

pub(crate) use runner::run;
