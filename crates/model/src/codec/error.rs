//! The format version, and errors of the decoder.

/// The newest frame format that this release writes and reads.
pub const FORMAT_VERSION: u8 = 1;

/// Why bytes cannot be decoded as a frame.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Written by a release with a newer format.
    #[error(
        "the frame has format version {0}, this release reads up to {FORMAT_VERSION}; upgrade Everstep"
    )]
    NewerFormat(u8),
    /// A record kind that this release does not know.
    #[error(
        "the frame holds a record of kind {0}, which this release does not know; upgrade Everstep"
    )]
    UnknownRecord(u8),
    /// The bytes are damaged.
    #[error("the frame is damaged: {0}")]
    Damaged(&'static str),
}
