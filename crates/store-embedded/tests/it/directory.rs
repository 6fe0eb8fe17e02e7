//! A directory for a store, and the store in it.

use std::sync::Arc;

use everstep_store::Clock;
use everstep_store_embedded::{EmbeddedStore, Options};
use everstep_store_testkit::Reopen;
use tempfile::TempDir;

/// A place that is removed when it is dropped.
pub(crate) struct Directory {
    pub(crate) path: TempDir,
    clock: Arc<dyn Clock>,
    options: Options,
}

impl Directory {
    /// A store that forgets almost every head at once, and has to load it again.
    pub(crate) fn forgetful(clock: Arc<dyn Clock>) -> Self {
        Self {
            options: Options {
                heads_cached: 2,
                ..Options::default()
            },
            ..Self::new(clock)
        }
    }

    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        // What is shown with it does not depend on the disk, and many stores are made: in memory,
        // if there is a folder.
        let path = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        Self {
            path: path.unwrap(),
            clock,
            options: Options::default(),
        }
    }
}

impl Reopen for Directory {
    type Store = EmbeddedStore;
    fn open(&self) -> EmbeddedStore {
        let options = self.options.clone();
        EmbeddedStore::open_with(self.path.path(), self.clock.clone(), options).unwrap()
    }
}
