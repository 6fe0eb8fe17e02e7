//! What is freed, and when.

use std::thread::ThreadId;

use super::*;

/// Reports the thread on which it is dropped.
struct Dropped(Sender<ThreadId>);

impl Drop for Dropped {
    fn drop(&mut self) {
        let _ = self.0.send(std::thread::current().id());
    }
}

fn part() -> (Arc<Dropped>, Receiver<ThreadId>) {
    let (sender, dropped) = channel();
    (Arc::new(Dropped(sender)), dropped)
}

// B820
#[test]
fn an_old_version_is_freed_on_another_thread_once_it_is_forgotten() {
    let old = OldVersions::new();
    let (memtable, dropped) = part();
    old.keeper.keep(memtable.clone());
    old.keeper.free();
    old.keeper.keep(memtable.clone());
    assert!(dropped.try_recv().is_err(), "it is kept");
    drop(memtable);
    old.keeper.free();
    let thread = dropped.recv().unwrap();
    assert_ne!(thread, std::thread::current().id());
}

#[test]
fn everything_is_freed_when_the_store_is_closed() {
    let old = OldVersions::new();
    let (first, dropped_first) = part();
    old.keeper.keep(TableList(first));
    let (second, dropped_second) = part();
    old.keeper.keep(second);
    drop(old);
    assert!(dropped_first.try_recv().is_ok());
    assert!(dropped_second.try_recv().is_ok());
}

/// Reports that it is dropped.
struct Barrier(Sender<()>);

impl Part for Barrier {
    fn is_forgotten(&self) -> bool {
        true
    }

    fn address(&self) -> usize {
        1
    }
}

impl Drop for Barrier {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

impl Keeper {
    /// Waits until the thread has processed what it was sent. Frees nothing.
    pub(crate) fn wait(&self) {
        let (sender, processed) = channel();
        self.keep(Barrier(sender.clone()));
        // Dropped at once, because it is the same as the first.
        self.keep(Barrier(sender));
        processed.recv().unwrap();
    }
}
