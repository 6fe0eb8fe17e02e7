//! Rule: dependencies between our crates point one way, along the edges of the table below. A new
//! edge needs a decision record first, then a row here. Dev-dependencies are not restricted.

use std::collections::BTreeMap;

use super::repository::Repository;
use super::runner::Problem;
use crate::manifest;

/// Each crate and the crates it may depend on, lowest layer first.
const LAYERS: &[(&str, &[&str])] = &[
    ("allocator", &[]),
    ("behaviours", &[]),
    ("fuzz", &[]),
    ("model", &[]),
    ("private-postgres", &[]),
    ("machine", &["model"]),
    ("samples", &["model"]),
    ("inspect", &["machine", "model"]),
    ("store", &["model"]),
    ("store-testkit", &["model", "store"]),
    ("store-embedded", &["model", "store"]),
    ("store-postgres", &["model", "store"]),
    ("driver", &["machine", "model"]),
    (
        "engine",
        &["driver", "inspect", "machine", "model", "store"],
    ),
    ("protocol", &["inspect", "model"]),
    (
        "everstep",
        &[
            "driver",
            "engine",
            "inspect",
            "machine",
            "model",
            "protocol",
            "store",
            "store-embedded",
        ],
    ),
    ("canonical", &["everstep"]),
    (
        "costs",
        &[
            "allocator",
            "everstep",
            "model",
            "store",
            "store-embedded",
            "store-testkit",
        ],
    ),
    (
        "server",
        &["engine", "inspect", "machine", "model", "protocol", "store"],
    ),
    (
        "bench",
        &[
            "everstep",
            "model",
            "server",
            "store",
            "store-embedded",
            "store-postgres",
        ],
    ),
    (
        "cli",
        &[
            "allocator",
            "bench",
            "demo",
            "everstep",
            "model",
            "protocol",
            "server",
            "store",
            "store-embedded",
            "store-postgres",
        ],
    ),
    (
        "sim",
        &[
            "canonical",
            "engine",
            "everstep",
            "machine",
            "model",
            "private-postgres",
            "protocol",
            "server",
            "store",
            "store-postgres",
            "store-testkit",
        ],
    ),
    (
        "cluster",
        &[
            "engine",
            "everstep",
            "model",
            "private-postgres",
            "protocol",
            "server",
            "sim",
            "store",
            "store-postgres",
        ],
    ),
];

/// Dependencies that must be optional for users.
const OPTIONAL: &[(&str, &str)] = &[("everstep", "store-embedded")];

pub(crate) fn check(repository: &Repository) -> Vec<Problem> {
    let mut problems = Vec::new();
    for folder in repository.crates() {
        let path = format!("crates/{folder}/Cargo.toml");
        let Some(file) = repository.file(&path) else {
            problems.push(Problem::of(
                &format!("crates/{folder}"),
                "has no Cargo.toml",
            ));
            continue;
        };
        let expected = package_of(folder);
        if manifest::package_name(&file.text) != Some(&expected) {
            problems.push(Problem::of(
                &path,
                format!("the package must be named `{expected}`"),
            ));
        }
        let Some((_, allowed)) = LAYERS.iter().find(|(name, _)| *name == folder) else {
            problems.push(Problem::of(
                &path,
                "the crate has no row in the table LAYERS of tidy",
            ));
            continue;
        };
        for edge in edges(&file.text) {
            let Edge {
                to,
                line,
                is_optional,
            } = edge;
            if !allowed.contains(&to.as_str()) {
                let message = format!("`{folder}` may not depend on `{to}`: see LAYERS in tidy");
                problems.push(Problem::at(&path, line, message));
            } else if OPTIONAL.contains(&(folder, to.as_str())) && !is_optional {
                let message =
                    format!("`{folder}` may depend on `{to}` only with `optional = true`");
                problems.push(Problem::at(&path, line, message));
            }
        }
    }
    problems
}

/// One dependency on another crate of ours.
#[derive(Debug)]
struct Edge {
    /// The folder of the crate depended upon.
    to: String,
    line: usize,
    is_optional: bool,
}

fn edges(text: &str) -> Vec<Edge> {
    // A dependency may be one line, several dotted lines or a table: collect its parts.
    let mut declared: BTreeMap<&str, (usize, String)> = BTreeMap::new();
    for entry in manifest::entries(text) {
        let (name, attribute) = match entry.section.rsplit_once('.') {
            _ if is_dependency_table(entry.section) => match entry.key.split_once('.') {
                Some((name, attribute)) => (name, format!("{attribute}={}", entry.value)),
                None => (entry.key, entry.value.to_owned()),
            },
            Some((table, name)) if is_dependency_table(table) => {
                (name, format!("{}={}", entry.key, entry.value))
            }
            _ => continue,
        };
        let (_, attributes) = declared.entry(name).or_insert((entry.line, String::new()));
        attributes.push_str(&attribute.replace(' ', ""));
        attributes.push(',');
    }
    let edge = |(name, (line, attributes)): (&str, (usize, String))| {
        // `alias = { package = "everstep-model" }`
        let package = attributes
            .split_once("package=")
            .and_then(|(_, it)| manifest::unquoted(it));
        let to = folder_of(package.unwrap_or(name))?;
        Some(Edge {
            to,
            line,
            is_optional: attributes.contains("optional=true"),
        })
    };
    declared.into_iter().filter_map(edge).collect()
}

fn is_dependency_table(section: &str) -> bool {
    let last = section.rsplit('.').next().unwrap_or(section);
    last == "dependencies" || last == "build-dependencies"
}

fn folder_of(package: &str) -> Option<String> {
    match package.strip_prefix("everstep")? {
        "" => Some("everstep".to_owned()),
        rest => rest.strip_prefix('-').map(str::to_owned),
    }
}

fn package_of(folder: &str) -> String {
    if folder == "everstep" {
        folder.to_owned()
    } else {
        format!("everstep-{folder}")
    }
}
