//! A temporary directory with a store.

use std::sync::Arc;

use everstep_store::Clock;
use everstep_store_embedded::{EmbeddedStore, Options};
use everstep_store_testkit::Reopen;
use tempfile::TempDir;

pub(crate) struct Directory {
    pub(crate) path: TempDir,
    clock: Arc<dyn Clock>,
    options: Options,
}

impl Directory {
    /// Creates a store that evicts heads almost immediately.
    pub(crate) fn with_tiny_cache(clock: Arc<dyn Clock>) -> Self {
        Self {
            options: Options {
                heads_cached: 2,
                ..Options::default()
            },
            ..Self::new(clock)
        }
    }

    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        // In memory if possible: the tests do not depend on the disk, and create many stores.
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
