//! Idempotent producers: whether an append repeats an earlier one, given the row of the producer.
//! Pure.
//!
//! The epoch rises with each restart of the producer. The sequence number counts its appends in
//! that epoch, from 0.

pub use everstep_store::ProducerMark as Producer;
use everstep_store::ProducerRow;

use super::error::StreamError;

/// Returns whether an append is already in the stream. Fails if it is not the next one either.
pub(super) fn is_repeated(
    known: Option<&ProducerRow>,
    append: &Producer,
) -> Result<bool, StreamError> {
    let gap = |expected| StreamError::SequenceGap {
        expected,
        received: append.seq,
    };
    let Some(known) = known else {
        return match append.seq {
            0 => Ok(false),
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
            0 => Ok(false),
            _ => Err(StreamError::EpochBeginsAtZero),
        };
    }
    match known.seq.saturating_add(1) {
        next if append.seq > next => Err(gap(next)),
        next => Ok(append.seq < next),
    }
}
