//! File operations, as `recorder.c` records them.

use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// Opens an existing file, which is identified by its inode from here on.
    Open {
        path: PathBuf,
        inode: u64,
    },
    Create {
        path: PathBuf,
        inode: u64,
    },
    Write {
        inode: u64,
        at: u64,
        bytes: Vec<u8>,
    },
    Truncate {
        inode: u64,
        length: u64,
    },
    SyncFile {
        path: PathBuf,
        inode: u64,
    },
    SyncFolder {
        path: PathBuf,
    },
    Rename {
        from: PathBuf,
        to: PathBuf,
    },
    Remove {
        path: PathBuf,
    },
    MakeFolder {
        path: PathBuf,
    },
    Mark(Mark),
}

/// A report of the process about batches, by number from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// The process opened the store and read this many. Later readers must not see fewer.
    Visible(usize),
    Begun(usize),
    Acknowledged(usize),
}

impl Mark {
    pub(super) fn line(self) -> String {
        match self {
            Self::Visible(number) => format!("visible {number}\n"),
            Self::Begun(number) => format!("begun {number}\n"),
            Self::Acknowledged(number) => format!("acknowledged {number}\n"),
        }
    }

    fn parse(line: &[u8]) -> Self {
        let line = std::str::from_utf8(line).unwrap();
        let (word, number) = line.trim_end().split_once(' ').unwrap();
        let number = number.parse().unwrap();
        match word {
            "visible" => Self::Visible(number),
            "begun" => Self::Begun(number),
            "acknowledged" => Self::Acknowledged(number),
            other => panic!("{other}"),
        }
    }
}

/// Parses a log. Paths become relative to `root`.
pub(super) fn parse(mut log: &[u8], root: &Path) -> Vec<Operation> {
    let mut operations = Vec::new();
    while !log.is_empty() {
        operations.push(one(&mut log, root));
    }
    operations
}

fn one(log: &mut &[u8], root: &Path) -> Operation {
    let kind = take(log, 1)[0];
    let (inode, number) = (long(log), long(log));
    let (path_length, data_length) = (short(log), short(log));
    let inside = |bytes: &[u8]| -> PathBuf {
        let path = Path::new(std::str::from_utf8(bytes).unwrap());
        path.strip_prefix(root).unwrap_or(path).to_owned()
    };
    let path = inside(take(log, path_length));
    let data = take(log, data_length);
    match kind {
        1 => Operation::Open { path, inode },
        2 => Operation::Create { path, inode },
        3 => Operation::Write {
            inode,
            at: number,
            bytes: data.to_vec(),
        },
        4 => Operation::Truncate {
            inode,
            length: number,
        },
        5 => Operation::SyncFile { path, inode },
        6 => Operation::SyncFolder { path },
        7 => Operation::Rename {
            from: path,
            to: inside(data),
        },
        8 => Operation::Remove { path },
        9 => Operation::MakeFolder { path },
        10 => Operation::Mark(Mark::parse(data)),
        other => panic!("an operation of kind {other}"),
    }
}

fn take<'a>(log: &mut &'a [u8], length: usize) -> &'a [u8] {
    let (taken, rest) = log.split_at(length);
    *log = rest;
    taken
}

fn long(log: &mut &[u8]) -> u64 {
    u64::from_ne_bytes(take(log, 8).try_into().unwrap())
}

fn short(log: &mut &[u8]) -> usize {
    u32::from_ne_bytes(take(log, 4).try_into().unwrap()) as usize
}
