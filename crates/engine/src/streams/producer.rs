//! Idempotent producers: classifies an append, given the row of the producer. Pure.

use everstep_store::ProducerRow;

use super::error::StreamError;

/// The identity of an append of a producer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "plain data")]
pub struct Producer {
    pub id: String,
    /// Rises with each restart of the producer.
    pub epoch: u64,
    /// The number of the append in this epoch, from 0.
    pub seq: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// The next append of the producer.
    Next,
    /// An append that is already in the stream.
    Repeated,
}

/// Classifies an append of a producer.
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
