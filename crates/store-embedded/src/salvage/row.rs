//! A version of a row of the key-value store.

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) key: Vec<u8>,
    /// Versions of the same key with higher numbers are newer.
    pub(crate) seqno: u64,
    /// `None` if the row was deleted.
    pub(crate) value: Option<Vec<u8>>,
}
