//! The three headers of an idempotent producer. They must be given together.

use axum::http::HeaderMap;
use everstep_engine::streams::Producer;

use super::header_values::text;
use crate::failure::Failure;
use crate::stream_protocol as names;

/// The largest integer that a JavaScript number represents exactly.
const NUMBER_MAX: u64 = (1 << 53) - 1;
const ID_BYTES_MAX: usize = 512;

pub(crate) fn producer(headers: &HeaderMap) -> Result<Option<Producer>, Failure> {
    let id = text(headers, &names::PRODUCER_ID)?;
    let epoch = text(headers, &names::PRODUCER_EPOCH)?;
    let seq = text(headers, &names::PRODUCER_SEQ)?;
    let (id, epoch, seq) = match (id, epoch, seq) {
        (None, None, None) => return Ok(None),
        (Some(id), Some(epoch), Some(seq)) => (id, epoch, seq),
        _ => {
            return Err(Failure::bad_request(
                "Producer-Id, Producer-Epoch and Producer-Seq must be given together",
            ));
        }
    };
    if id.is_empty() || id.len() > ID_BYTES_MAX {
        return Err(Failure::bad_request("Producer-Id has 1 to 512 bytes"));
    }
    Ok(Some(Producer {
        id: id.to_owned(),
        epoch: number(epoch)?,
        seq: number(seq)?,
    }))
}

fn number(text: &str) -> Result<u64, Failure> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|_| digits);
    number
        .filter(|number| *number <= NUMBER_MAX)
        .ok_or_else(|| {
            Failure::bad_request("Producer-Epoch and Producer-Seq are whole numbers up to 2^53 - 1")
        })
}
