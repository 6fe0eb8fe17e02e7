//! The list of rules, and the loop that applies them to the repository.

use std::fmt;

use super::repository::Repository;
use super::{
    banned_code, code_map, error_pages, file_length, layers, links, machine_paths, module_cycles,
    module_docs, names, numbered_lists, sleeping, test_names, type_size,
};
use crate::failure::Failure;
use crate::workspace;

/// One rule.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) name: &'static str,
    pub(crate) check: fn(&Repository) -> Vec<Problem>,
}

/// A violation of a rule.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) path: String,
    /// Counted from 1; 0 means the file as a whole.
    pub(crate) line: usize,
    /// What is wrong and what to do about it.
    pub(crate) message: String,
}

pub(crate) const RULES: &[Rule] = &[
    Rule {
        name: "module-docs",
        check: module_docs::check,
    },
    Rule {
        name: "file-length",
        check: file_length::check,
    },
    Rule {
        name: "banned-code",
        check: banned_code::check,
    },
    Rule {
        name: "names",
        check: names::check,
    },
    Rule {
        name: "test-names",
        check: test_names::check,
    },
    Rule {
        name: "sleeping",
        check: sleeping::check,
    },
    Rule {
        name: "error-pages",
        check: error_pages::check,
    },
    Rule {
        name: "numbered-lists",
        check: numbered_lists::check,
    },
    Rule {
        name: "links",
        check: links::check,
    },
    Rule {
        name: "code-map",
        check: code_map::check,
    },
    Rule {
        name: "machine-paths",
        check: machine_paths::check,
    },
    Rule {
        name: "layers",
        check: layers::check,
    },
    Rule {
        name: "module-cycles",
        check: module_cycles::check,
    },
    Rule {
        name: "type-size",
        check: type_size::check,
    },
];

/// Applies every rule and prints every problem; fails if there was one.
pub(crate) fn run() -> Result<(), Failure> {
    let repository = Repository::load(&workspace::root())?;
    let mut count: usize = 0;
    for rule in RULES {
        for problem in (rule.check)(&repository) {
            println!("{problem} [{}]", rule.name);
            count += 1;
        }
    }
    if count > 0 {
        return Err(Failure::new(format!(
            "tidy found {count} problem(s), listed above"
        )));
    }
    println!(
        "      {} files keep all {} rules",
        repository.files().len(),
        RULES.len()
    );
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
