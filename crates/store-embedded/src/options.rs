//! Tuning of a store.

/// How a store is tuned. The defaults fit most machines.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Bytes of disk blocks kept in memory.
    pub cache_bytes: u64,
    /// Bytes of records collected in memory before they are written into a table. The log has them
    /// already: this decides how much of it is read again after a crash, and how large tables are.
    pub memtable_bytes: u64,
    /// Heads of streams kept in memory; more than runs are executed at once.
    pub heads_cached: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            cache_bytes: 32 * 1024 * 1024,
            memtable_bytes: 32 * 1024 * 1024,
            heads_cached: 65_536,
        }
    }
}

impl Options {
    /// Sets the bytes of disk blocks kept in memory.
    #[must_use]
    pub fn with_cache_bytes(mut self, bytes: u64) -> Self {
        self.cache_bytes = bytes;
        self
    }

    /// Sets the bytes of records collected in memory before they are written into a table.
    #[must_use]
    pub fn with_memtable_bytes(mut self, bytes: u64) -> Self {
        self.memtable_bytes = bytes;
        self
    }

    /// Sets how many heads are kept in memory.
    #[must_use]
    pub fn with_heads_cached(mut self, heads: usize) -> Self {
        self.heads_cached = heads;
        self
    }
}
