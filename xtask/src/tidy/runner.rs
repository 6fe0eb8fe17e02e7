//! The list of rules, and the loop that applies them to the repository.

use std::fmt;

use super::repository::Repository;
use super::{
    banned_code, code_map, comment_width, error_pages, file_length, language, layers, links,
    machine_paths, module_cycles, module_docs, names, numbered_lists, sleeping, symbols,
    test_names, type_size,
};
use crate::failure::Failure;
use crate::workspace;

/// The name of a rule and its function.
type Rule = (&'static str, fn(&Repository) -> Vec<Problem>);

/// A violation of a rule.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) path: String,
    /// Counted from 1; 0 means the file as a whole.
    pub(crate) line: usize,
    /// What is wrong and what to do about it.
    pub(crate) message: String,
}

pub(super) const RULES: &[Rule] = &[
    ("module-docs", module_docs::check),
    ("file-length", file_length::check),
    ("comment-width", comment_width::check),
    ("banned-code", banned_code::check),
    ("names", names::check),
    ("test-names", test_names::check),
    ("sleeping", sleeping::check),
    ("error-pages", error_pages::check),
    ("numbered-lists", numbered_lists::check),
    ("links", links::check),
    ("code-map", code_map::check),
    ("symbols", symbols::check),
    ("machine-paths", machine_paths::check),
    ("language", language::check),
    ("layers", layers::check),
    ("module-cycles", module_cycles::check),
    ("type-size", type_size::check),
];

/// Applies every rule and prints every problem; fails if there was one.
pub(crate) fn run() -> Result<(), Failure> {
    let repository = Repository::load(&workspace::root())?;
    let mut count: usize = 0;
    for (name, check) in RULES {
        for problem in check(&repository) {
            println!("{problem} [{name}]");
            count += 1;
        }
    }
    if count > 0 {
        let message = format!("tidy found {count} problem(s), listed above");
        return Err(Failure::new(message));
    }
    let (files, rules) = (repository.files().len(), RULES.len());
    println!("      {files} files keep all {rules} rules");
    Ok(())
}

impl Problem {
    /// A problem at one line.
    pub(crate) fn at(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line,
            message: message.into(),
        }
    }

    /// A problem of a file or folder as a whole.
    pub(crate) fn of(path: &str, message: impl Into<String>) -> Self {
        Self::at(path, 0, message)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.message),
            line => write!(f, "{}:{line}: {}", self.path, self.message),
        }
    }
}
