//! Settings of a store.

/// Settings of a store. The defaults fit most machines.
#[derive(Clone, Debug)]
pub struct Options {
    /// The bytes of disk blocks in the cache.
    pub cache_bytes: u64,
    /// The bytes of records collected in memory before they are written into a table. Determines
    /// how much of the log is read again after a crash, and the size of tables.
    pub memtable_bytes: u64,
    /// The number of heads of streams in the cache. Should exceed the number of runs that are
    /// executed concurrently.
    pub heads_cached: usize,
    /// The number of files that stay open for reads, at least 10. Servers keep descriptors for them
    /// free.
    pub files_cached: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            cache_bytes: 32 * 1024 * 1024,
            memtable_bytes: 32 * 1024 * 1024,
            heads_cached: 65_536,
            files_cached: 256,
        }
    }
}
