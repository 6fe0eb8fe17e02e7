//! Images: the files as a power loss could leave them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::content::{Content, pieces};
use super::disk::{Body, Change, Disk, Names, Node, apply, rename};
use super::random::Random;

/// The unsynced changes that have reached the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Survives {
    Nothing,
    /// Some sectors and names.
    Torn,
    Everything,
}

impl Survives {
    pub(super) const ALL: [Self; 3] = [Self::Nothing, Self::Torn, Self::Everything];
}

/// Writes the files into an empty folder.
pub(super) fn write(disk: &Disk, survives: Survives, random: &mut Random, into: &Path) {
    for (path, node) in surviving_names(disk, survives, random) {
        let target = into.join(&path);
        match node {
            Node::Folder => fs::create_dir_all(&target).unwrap(),
            Node::File(body) => {
                surviving_content(&disk.bodies[body], survives, random).write(&target);
            }
        }
    }
}

/// Returns the files that processes see, to compare them with the real files.
pub(super) fn as_seen(disk: &Disk) -> BTreeMap<std::path::PathBuf, Option<Content>> {
    let mut unused = Random(0);
    let seen = disk.names.iter().map(|(path, node)| {
        let content = match node {
            Node::Folder => None,
            Node::File(body) => Some(
                surviving_content(&disk.bodies[*body], Survives::Everything, &mut unused)
                    .without_holes(),
            ),
        };
        (path.clone(), content)
    });
    seen.collect()
}

fn surviving_names(disk: &Disk, survives: Survives, random: &mut Random) -> Names {
    let mut names = disk.durable_names.clone();
    for changes in disk.unsynced_names.values() {
        let count = match survives {
            Survives::Nothing => 0,
            Survives::Torn => random.up_to(changes.len()),
            Survives::Everything => changes.len(),
        };
        for naming in &changes[..count] {
            rename(&mut names, naming);
        }
    }
    // Remove the entries of missing folders.
    let folders: Vec<_> = names
        .iter()
        .filter(|(_, node)| **node == Node::Folder)
        .map(|(path, _)| path.clone())
        .collect();
    names.retain(|path, _| {
        let mut above = path.ancestors().skip(1);
        above.all(|folder| folder.as_os_str().is_empty() || folders.iter().any(|f| f == folder))
    });
    names
}

fn surviving_content(body: &Body, survives: Survives, random: &mut Random) -> Content {
    let mut content = body.durable.clone();
    match survives {
        Survives::Nothing => {}
        Survives::Everything => {
            for change in &body.unsynced {
                apply(&mut content, change);
            }
        }
        Survives::Torn => tear(&mut content, &body.unsynced, random),
    }
    content
}

/// Applies each sector in some state since the last sync, and some changes of length.
fn tear(content: &mut Content, changes: &[Change], random: &mut Random) {
    let mut points: BTreeMap<u64, usize> = BTreeMap::new();
    let mut longest = content.length;
    for (number, change) in changes.iter().enumerate() {
        match change {
            Change::Write { at, bytes } => {
                longest = longest.max(at + bytes.len() as u64);
                for piece in pieces(*at, bytes) {
                    let point = points.entry(piece.sector);
                    let point = *point.or_insert_with(|| random.up_to(changes.len()));
                    if number < point {
                        content.put(piece);
                    }
                }
            }
            Change::Truncate(length) => {
                longest = longest.max(*length);
                if random.coin() {
                    content.truncate(*length);
                }
            }
        }
    }
    // A file may have grown without its bytes.
    if content.length < longest && random.coin() {
        content.truncate(longest);
    }
}
