//! A model of a disk with a cache: durable data, and unsynced changes that a power loss may
//! discard.
//!
//! A sync of a file makes its bytes and its length durable, but not its name. A sync of a folder
//! makes its entries durable. Unsynced changes may reach the disk too: entries of one folder in the
//! order of their changes, as in journaling file systems; sectors in any order, each in any of its
//! states since the last sync.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::content::{Content, pieces};
use super::operation::Operation;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Node {
    File(usize),
    Folder,
}

#[derive(Clone, Debug)]
pub(super) enum Change {
    Write { at: u64, bytes: Vec<u8> },
    Truncate(u64),
}

/// The bytes of a file, independent of its name.
#[derive(Clone, Debug, Default)]
pub(super) struct Body {
    pub(super) durable: Content,
    pub(super) unsynced: Vec<Change>,
}

/// A change of the entries of one folder.
#[derive(Clone, Debug)]
pub(super) enum Naming {
    Appears(PathBuf, Node),
    Disappears(PathBuf),
    Moves(PathBuf, PathBuf),
}

pub(super) type Names = BTreeMap<PathBuf, Node>;

#[derive(Clone, Debug, Default)]
pub(super) struct Disk {
    pub(super) bodies: Vec<Body>,
    inodes: BTreeMap<u64, usize>,
    /// The names that processes see.
    pub(super) names: Names,
    pub(super) durable_names: Names,
    /// The changes since the last sync, by folder.
    pub(super) unsynced_names: BTreeMap<PathBuf, Vec<Naming>>,
}

impl Disk {
    /// Creates a disk on which all files below a folder are durable.
    pub(super) fn of_folder(root: &Path) -> Self {
        let mut disk = Self::default();
        disk.load(root, Path::new(""));
        disk.durable_names = disk.names.clone();
        disk
    }

    fn load(&mut self, root: &Path, folder: &Path) {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let entry = entry.unwrap();
            let path = folder.join(entry.file_name());
            if entry.path().is_dir() {
                self.names.insert(path.clone(), Node::Folder);
                self.load(root, &path);
                continue;
            }
            self.names.insert(path, Node::File(self.bodies.len()));
            self.bodies.push(Body {
                durable: Content::read(&entry.path()),
                unsynced: Vec::new(),
            });
        }
    }

    pub(super) fn apply(&mut self, operation: &Operation) {
        match operation {
            Operation::Open { path, inode } => {
                if let Some(Node::File(body)) = self.names.get(path) {
                    self.inodes.insert(*inode, *body);
                }
            }
            Operation::Create { path, inode } => {
                self.inodes.insert(*inode, self.bodies.len());
                let node = Node::File(self.bodies.len());
                self.bodies.push(Body::default());
                self.name(path, Naming::Appears(path.clone(), node));
            }
            Operation::Write { inode, at, bytes } => {
                let (at, bytes) = (*at, bytes.clone());
                self.change(*inode, Change::Write { at, bytes });
            }
            Operation::Truncate { inode, length } => {
                self.change(*inode, Change::Truncate(*length));
            }
            Operation::SyncFile { inode, .. } => self.sync_file(*inode),
            Operation::SyncFolder { path } => self.sync_folder(path),
            Operation::Rename { from, to } => {
                assert_eq!(from.parent(), to.parent(), "a move between folders");
                self.name(from, Naming::Moves(from.clone(), to.clone()));
            }
            Operation::Remove { path } => self.name(path, Naming::Disappears(path.clone())),
            Operation::MakeFolder { path } => {
                self.name(path, Naming::Appears(path.clone(), Node::Folder));
            }
            Operation::Mark(_) => {}
        }
    }

    fn change(&mut self, inode: u64, change: Change) {
        let body = self.inodes[&inode];
        self.bodies[body].unsynced.push(change);
    }

    fn name(&mut self, path: &Path, naming: Naming) {
        rename(&mut self.names, &naming);
        let folder = path.parent().unwrap().to_owned();
        self.unsynced_names.entry(folder).or_default().push(naming);
    }

    fn sync_file(&mut self, inode: u64) {
        let body = &mut self.bodies[self.inodes[&inode]];
        for change in std::mem::take(&mut body.unsynced) {
            apply(&mut body.durable, &change);
        }
    }

    fn sync_folder(&mut self, path: &Path) {
        for naming in self.unsynced_names.remove(path).unwrap_or_default() {
            rename(&mut self.durable_names, &naming);
        }
    }
}

pub(super) fn rename(names: &mut Names, naming: &Naming) {
    match naming {
        Naming::Appears(path, node) => drop(names.insert(path.clone(), *node)),
        Naming::Disappears(path) => drop(names.remove(path)),
        Naming::Moves(from, to) => {
            // Only files and empty folders are renamed.
            if let Some(node) = names.remove(from) {
                names.insert(to.clone(), node);
            }
        }
    }
}

pub(super) fn apply(content: &mut Content, change: &Change) {
    match change {
        Change::Write { at, bytes } => {
            for piece in pieces(*at, bytes) {
                content.put(piece);
            }
        }
        Change::Truncate(length) => content.truncate(*length),
    }
}
