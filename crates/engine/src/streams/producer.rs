//! Idempotent producers: what an append of a producer is, given what the stream knows of it. Pure.

use everstep_store::ProducerRow;

use super::error::StreamError;

/// Who appends, and which of its appends it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Producer {
    /// Who.
    pub id: String,
    /// Which life of it; higher after each restart.
    pub epoch: u64,
    /// Which append of that life, from 0.
    pub seq: u64,
}

/// What the append is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// The next one.
    Next,
    /// One that is in the stream already.
    Repeated,
}

/// Judges an append of a producer.
pub(super) fn judge(
    known: Option<&ProducerRow>,
    append: &Producer,
) -> Result<Standing, StreamError> {
    let gap = |expected| StreamError::SequenceGap {
        expected,
        received: append.seq,
    };
    let Some(known) = known else {
        return match append.seq {
            0 => Ok(Standing::Next),
            _ => Err(gap(0)),
        };
    };
    if append.epoch < known.epoch {
        return Err(StreamError::StaleEpoch {
            current: known.epoch,
        });
    }
    if append.epoch > known.epoch {
        return match append.seq {
            0 => Ok(Standing::Next),
            _ => Err(StreamError::EpochBeginsAtZero),
        };
    }
    match known.seq.saturating_add(1) {
        next if append.seq < next => Ok(Standing::Repeated),
        next if append.seq == next => Ok(Standing::Next),
        next => Err(gap(next)),
    }
}
