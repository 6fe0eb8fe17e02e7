//! What `dev` and `serve` share: a store, the settings of a server, and when to stop.

mod logs;
mod settings;
mod stopping;
mod traces;

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use everstep_store::Store;
use everstep_store_embedded::EmbeddedStore;

use crate::system_clock::SystemClock;

pub(crate) use logs::{FORMATS, LEVELS, show as show_logs};
pub(crate) use settings::{connections, options};
pub(crate) use stopping::Stopping;
pub(crate) use traces::export as export_traces;

/// The store in a directory.
pub(crate) fn open_store(path: &Path) -> anyhow::Result<Arc<dyn Store>> {
    let store = EmbeddedStore::open(path, Arc::new(SystemClock))
        .with_context(|| format!("cannot open {}", path.display()))?;
    Ok(Arc::new(store))
}
