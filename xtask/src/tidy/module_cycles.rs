//! Rule: the modules of a crate do not import each other in a cycle. Modules in a cycle are one
//! module in several files: none of them can be read, tested or changed alone.
//!
//! The rule compares siblings: the modules of a crate's root, and those of each folder. An import
//! of something that a folder re-exports counts as an import of the module that defines it. Imports
//! that only tests use do not count.

use std::collections::{BTreeMap, BTreeSet};

use super::imports;
use super::repository::{Repository, SourceFile};
use super::runner::Problem;

/// A crate, or a folder of modules in it such as `engine/streams`, whose cycles are allowed, and
/// why.
type Exception = (&'static str, &'static str);

const EXCEPTIONS: &[Exception] = &[];

/// The path of a module below the root of its crate; empty for the root.
type Module = Vec<String>;

pub(crate) fn check(repository: &Repository) -> Vec<Problem> {
    check_with(repository, EXCEPTIONS)
}

fn check_with(repository: &Repository, exceptions: &[Exception]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut needed = BTreeSet::new();
    for name in repository.crates() {
        for (folder, cycle) in Modules::of(repository, name).cycles() {
            let path = [vec![name.to_owned()], folder].concat().join("/");
            if let Some((allowed, _)) = exceptions.iter().find(|row| row.0 == path) {
                needed.insert(*allowed);
                continue;
            }
            let names = cycle.join(", ");
            let message = format!("modules import each other in a cycle: {names}");
            problems.push(Problem::of(&format!("crates/{path}"), message));
        }
    }
    for (path, reason) in exceptions {
        let (name, _) = path.split_once('/').unwrap_or((path, ""));
        // The repositories in the tests of other rules contain incomplete crates.
        let has_root = |file| repository.contains(&format!("crates/{name}/src/{file}"));
        let exists = has_root("lib.rs") || has_root("main.rs");
        if exists && (!needed.contains(path) || reason.is_empty()) {
            let message = "needs no exception from the rule on module cycles, or has no reason";
            problems.push(Problem::of(&format!("crates/{path}"), message));
        }
    }
    problems
}

/// The modules of one crate with their code.
struct Modules<'a> {
    code: BTreeMap<Module, &'a str>,
    /// For each module, the child that a re-exported name comes from.
    reexports: BTreeMap<Module, BTreeMap<String, String>>,
}

impl<'a> Modules<'a> {
    fn of(repository: &'a Repository, name: &str) -> Self {
        let source = format!("crates/{name}/src/");
        let files = repository.rust_files().filter(|file| !is_for_tests(file));
        let code: BTreeMap<Module, &str> = files
            .filter_map(|file| Some((module(file.path.strip_prefix(&source)?), file.code.as_str())))
            .collect();
        let mut modules = Self {
            code,
            reexports: BTreeMap::new(),
        };
        let parents: Vec<Module> = modules.code.keys().cloned().collect();
        for parent in parents {
            let children = modules.children(&parent);
            let code = modules.code.get(&parent).copied().unwrap_or_default();
            let named = imports::reexports(code, &children);
            let named = named.into_iter().map(|(child, name)| (name, child));
            modules.reexports.insert(parent, named.collect());
        }
        modules
    }

    fn children(&self, parent: &Module) -> Vec<String> {
        let below = self.code.keys().filter(|module| module.starts_with(parent));
        let names = below.filter_map(|module| module.get(parent.len()).cloned());
        let unique: BTreeSet<String> = names.collect();
        unique.into_iter().collect()
    }

    /// Every cycle, with the folder whose modules form it.
    fn cycles(&self) -> Vec<(Module, Vec<String>)> {
        let mut edges: BTreeMap<Module, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
        for (from, code) in &self.code {
            for path in imports::paths(code) {
                let to = self.resolve(from, &path);
                let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
                if let (Some(a), Some(b)) = (from.get(common), to.get(common)) {
                    let folder = from.get(..common).unwrap_or_default().to_vec();
                    let siblings = edges.entry(folder).or_default();
                    siblings.entry(a.clone()).or_default().insert(b.clone());
                }
            }
        }
        let found = edges.into_iter().flat_map(|(folder, edges)| {
            let cycles = cycles_of(&edges).into_iter();
            cycles.map(move |cycle| (folder.clone(), cycle))
        });
        found.collect()
    }

    /// The module that defines what a path names.
    fn resolve(&self, from: &Module, path: &[String]) -> Module {
        let mut at: Module = from.clone();
        for segment in path {
            match segment.as_str() {
                "crate" => at = Vec::new(),
                "super" => {
                    at.pop();
                }
                "self" => {}
                name => {
                    let child = [at.clone(), vec![name.to_owned()]].concat();
                    if self.code.keys().any(|module| module.starts_with(&child)) {
                        at = child;
                    } else {
                        return self.defining(at, name);
                    }
                }
            }
        }
        at
    }

    /// Follows re-exports of a name from a module to its children.
    fn defining(&self, mut at: Module, name: &str) -> Module {
        while let Some(child) = self.reexports.get(&at).and_then(|names| names.get(name)) {
            at.push(child.clone());
        }
        at
    }
}

/// The groups of modules that reach each other.
fn cycles_of(edges: &BTreeMap<String, BTreeSet<String>>) -> Vec<Vec<String>> {
    let reached = |from: &String| {
        let mut reached = BTreeSet::new();
        let mut open = vec![from];
        while let Some(next) = open.pop() {
            for to in edges.get(next).into_iter().flatten() {
                if reached.insert(to) {
                    open.push(to);
                }
            }
        }
        reached
    };
    let reach: BTreeMap<&String, BTreeSet<&String>> =
        edges.keys().map(|from| (from, reached(from))).collect();
    let reaches = |a: &String, b: &String| reach.get(a).is_some_and(|set| set.contains(b));
    let mut cycles: Vec<Vec<String>> = Vec::new();
    for from in edges.keys().filter(|from| reaches(from, from)) {
        if cycles.iter().any(|cycle| cycle.contains(from)) {
            continue;
        }
        let members = edges
            .keys()
            .filter(|to| reaches(from, to) && reaches(to, from));
        cycles.push(members.cloned().collect());
    }
    cycles
}

fn is_for_tests(file: &SourceFile) -> bool {
    let stem = file.name().trim_end_matches(".rs");
    let is_named_so = |name: &str| name == "tests" || name.ends_with("_tests") || name == "samples";
    is_named_so(stem) || file.folders().any(is_named_so)
}

/// The module of a file: `a/mod.rs` and `a.rs` are both `a`.
fn module(path: &str) -> Module {
    let path = path.strip_suffix(".rs").unwrap_or(path);
    let mut parts: Module = path.split('/').map(str::to_owned).collect();
    let is_root = parts.len() == 1 && (path == "lib" || path == "main");
    if is_root || parts.last().is_some_and(|last| last == "mod") {
        parts.pop();
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(files: &[(&str, &str)], exceptions: &[Exception]) -> Vec<String> {
        let files = files
            .iter()
            .map(|&(path, text)| (format!("crates/engine/src/{path}"), text.to_owned()));
        let repository = Repository::from_texts(files);
        let problems = check_with(&repository, exceptions).into_iter();
        problems.map(|problem| problem.to_string()).collect()
    }

    #[test]
    fn a_cycle_of_modules_is_found() {
        let files = [
            ("a.rs", "use crate::b::B;"),
            ("b.rs", "use crate::c;"),
            ("c.rs", "fn f() { super::a::g() }"),
            ("d.rs", "use crate::a::A;"),
        ];
        let expected = "crates/engine: modules import each other in a cycle: a, b, c";
        assert_eq!(problems(&files, &[]), [expected]);
    }

    #[test]
    fn a_cycle_through_a_reexport_and_inside_a_folder_is_found() {
        let files = [
            ("a/mod.rs", "mod x;\nmod y;\npub use x::X;\npub use y::Y;"),
            ("a/x.rs", "use super::Y;"),
            ("a/y.rs", "use crate::a::{X};"),
        ];
        let expected = "crates/engine/a: modules import each other in a cycle: x, y";
        assert_eq!(problems(&files, &[]), [expected]);
    }

    #[test]
    fn imports_in_one_direction_and_imports_of_tests_are_no_cycle() {
        let files = [
            ("a.rs", "use crate::b::B;"),
            ("b.rs", "#[cfg(test)]\nmod tests { use crate::a::A; }"),
            ("b/tests.rs", "use crate::a::A;"),
        ];
        assert!(problems(&files, &[]).is_empty());
    }

    #[test]
    fn an_exception_holds_while_it_is_needed() {
        let row = |reason| ("engine", reason);
        let cycle = [("a.rs", "use crate::b::B;"), ("b.rs", "use crate::a::A;")];
        assert!(problems(&cycle, &[row("one concept")]).is_empty());
        let no_cycle = [("lib.rs", ""), ("a.rs", "use crate::b::B;")];
        assert_eq!(problems(&no_cycle, &[row("one concept")]).len(), 1);
        let cycle = [&cycle[..], &[("lib.rs", "")]].concat();
        assert_eq!(problems(&cycle, &[row("")]).len(), 1);
    }
}
