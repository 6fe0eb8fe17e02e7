//! Keeps the memory and the files of old versions of the tables until a thread of its own frees
//! them.
//!
//! When a memtable is sealed, the key-value store forgets old versions: on the thread that commits,
//! and under a lock that commits need. Freeing a memtable takes 16 ms, and deleting the files of
//! merged tables as long again; all runs would wait. The thread here therefore keeps a reference to
//! each old version, so that forgetting it frees nothing.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use fjall::AbstractTree;

use crate::storage::tables::Tables;

/// A part of a version.
trait Part: Send {
    /// Whether nothing else refers to it.
    fn is_forgotten(&self) -> bool;

    /// Equal for references to the same part. Zero for parts that are never shared.
    fn address(&self) -> usize;

    fn is_same(&self, other: &dyn Part) -> bool {
        self.address() != 0 && self.address() == other.address()
    }
}

impl<T: Send + Sync> Part for Arc<T> {
    fn is_forgotten(&self) -> bool {
        Self::strong_count(self) == 1
    }

    fn address(&self) -> usize {
        Self::as_ptr(self).addr()
    }
}

/// The list of the tables of a version. A table that later versions contain is not freed with it.
struct TableList<T>(#[allow(dead_code, reason = "held to be dropped later")] T);

impl<T: Send> Part for TableList<T> {
    fn is_forgotten(&self) -> bool {
        true
    }

    fn address(&self) -> usize {
        0
    }
}

enum Message {
    Keep(Box<dyn Part>),
    /// Free what the key-value store has forgotten.
    Free,
}

/// Passes old versions to the thread. If it could not be started, they are dropped here.
#[derive(Clone)]
pub(crate) struct Keeper(Sender<Message>);

impl Keeper {
    /// Keeps the memtables, which are about to be sealed.
    pub(crate) fn keep_memtables(&self, tables: &Tables) {
        for table in tables.all() {
            self.keep(table.tree.active_memtable());
        }
    }

    /// Keeps the tables, which the key-value store is about to forget.
    pub(crate) fn keep_tables(&self, tables: &Tables) {
        for table in tables.all() {
            self.keep(TableList(table.tree.current_version()));
        }
    }

    fn keep(&self, part: impl Part + 'static) {
        let _ = self.0.send(Message::Keep(Box::new(part)));
    }

    /// Frees what the key-value store has forgotten by now.
    pub(crate) fn free(&self) {
        let _ = self.0.send(Message::Free);
    }
}

pub(crate) struct OldVersions {
    /// The number of unsorted tables of the journal when its version was kept last.
    unsorted: usize,
    pub(crate) keeper: Keeper,
    thread: Option<JoinHandle<()>>,
}

impl OldVersions {
    pub(crate) fn new() -> Self {
        let (messages, received) = channel();
        let thread = std::thread::Builder::new()
            .name("everstep-free".to_owned())
            .spawn(move || free_forgotten(&received));
        Self {
            unsorted: 0,
            keeper: Keeper(messages),
            thread: thread.ok(),
        }
    }

    /// Keeps the tables of the journal if it has another number of unsorted tables than before: a
    /// memtable was flushed, or tables were merged.
    pub(crate) fn note(&mut self, tables: &Tables, unsorted: usize) {
        if unsorted != self.unsorted {
            self.unsorted = unsorted;
            self.keeper
                .keep(TableList(tables.journal.tree.current_version()));
        }
    }
}

/// The body of the thread.
fn free_forgotten(messages: &Receiver<Message>) {
    let mut kept: Vec<Box<dyn Part>> = Vec::new();
    for message in messages {
        match message {
            // A second reference to the same part would keep it from being freed.
            Message::Keep(part) if kept.iter().any(|other| part.is_same(other.as_ref())) => {}
            Message::Keep(part) => kept.push(part),
            Message::Free => kept.retain(|part| !part.is_forgotten()),
        }
    }
}

impl Drop for OldVersions {
    /// Waits, so that all files are deleted before the store is closed.
    fn drop(&mut self) {
        self.keeper = Keeper(channel().0);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
#[path = "old_versions_tests.rs"]
mod tests;
