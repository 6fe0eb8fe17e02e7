//! Rule: every relative link in every Markdown file leads somewhere: to a file or folder of the
//! repository, and to a heading where it names one. Links to other sites are not followed.

use super::markdown::{anchors, links, prose};
use super::repository::Repository;
use super::runner::Problem;

pub(crate) fn check(repository: &Repository) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in repository.files().filter(|file| file.path.ends_with(".md")) {
        let prose = prose(&file.text);
        for link in links(&prose)
            .into_iter()
            .filter(|link| is_relative(link.target))
        {
            if let Some(why) = objection(repository, &file.path, link.target) {
                let message = format!("link `{}` {why}", link.target);
                problems.push(Problem::at(&file.path, link.line, message));
            }
        }
    }
    problems
}

fn is_relative(target: &str) -> bool {
    !["http:", "https:", "mailto:", "//"]
        .iter()
        .any(|scheme| target.starts_with(scheme))
}

fn objection(repository: &Repository, from: &str, target: &str) -> Option<&'static str> {
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = path.split('?').next().unwrap_or(path).replace("%20", " ");
    let Some(found) = (if path.is_empty() {
        Some(from.to_owned())
    } else {
        resolve(from, &path)
    }) else {
        return Some("leaves the repository");
    };
    if !repository.contains(&found) {
        return Some("leads nowhere");
    }
    let document = repository.file(&found).filter(|_| found.ends_with(".md"))?;
    let has_anchor = anchor.is_empty() || anchors(&document.text).iter().any(|a| a == anchor);
    (!has_anchor).then_some("names a heading that is not there")
}

/// The path from the root that `target` means in the file `from`; `None` if it climbs above the
/// root.
fn resolve(from: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    if !target.starts_with('/') {
        parts.extend(from.split('/'));
        parts.pop();
    }
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}
