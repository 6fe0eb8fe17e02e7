//! Failures and their causes. Causes are nested, so input could nest them arbitrarily deep. They
//! are decoded iteratively, up to the limit that the encoder keeps.
//!
//! ```text
//!   failure = code, name, message, stack?, cause?, attempt
//! ```

use super::error::DecodeError;
use super::reader::Reader;
use super::wire::Wire;
use super::writer::Writer;
use crate::failure::Failure;
use crate::limits::CAUSES_MAX;

impl Wire for Failure {
    fn put(&self, out: &mut Writer) {
        let chain = std::iter::successors(Some(self), |failure| failure.cause.as_deref());
        let chain: Vec<&Self> = chain.take(CAUSES_MAX + 1).collect();
        for (index, failure) in chain.iter().enumerate() {
            failure.code.put(out);
            failure.name.put(out);
            failure.message.put(out);
            failure.stack.put(out);
            out.byte(u8::from(index + 1 < chain.len()));
        }
        for failure in chain.iter().rev() {
            failure.attempt.put(out);
        }
    }

    fn take(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut outer = Vec::new();
        let mut innermost = loop {
            let failure = take_alone(input)?;
            if !bool::take(input)? {
                break failure;
            }
            outer.push(failure);
            if outer.len() > CAUSES_MAX {
                return Err(DecodeError::Damaged("a failure has too many causes"));
            }
        };
        innermost.attempt = u32::take(input)?;
        let mut failure = innermost;
        while let Some(mut effect) = outer.pop() {
            effect.attempt = u32::take(input)?;
            effect.cause = Some(Box::new(failure));
            failure = effect;
        }
        Ok(failure)
    }
}

/// Reads the fields before the cause.
fn take_alone(input: &mut Reader<'_>) -> Result<Failure, DecodeError> {
    Ok(Failure {
        code: String::take(input)?,
        name: String::take(input)?,
        message: String::take(input)?,
        stack: Wire::take(input)?,
        cause: None,
        attempt: 0,
    })
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::{ErrorCode, Frame, FrameHeader, Interner, Record, Timestamp, record::Paused};

    fn round_trip(reason: &Failure) -> Failure {
        let body = Paused {
            reason: Some(reason.clone()),
        };
        let record = Record {
            time: Timestamp::from_millis(1),
            body: body.into(),
        };
        let bytes = Bytes::from(Frame::encode(&FrameHeader::default(), &[record]));
        let frame = Frame::decode(&bytes, &mut Interner::default()).unwrap();
        match &frame.records[0].body {
            crate::Body::Paused(paused) => paused.reason.clone().unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn causes_round_trip_up_to_the_limit() {
        let mut failure = Failure::new(ErrorCode::StepFailed, "the first");
        for attempt in 0..200 {
            let effect = Failure::new(ErrorCode::StepFailed, format!("effect {attempt}"));
            failure = effect.at_attempt(attempt).caused_by(failure);
        }
        let causes = std::iter::successors(Some(&failure), |f| f.cause.as_deref()).count() - 1;
        assert_eq!(causes, CAUSES_MAX);
        assert_eq!(round_trip(&failure), failure);
        let json = serde_json::to_string(&failure).unwrap();
        assert_eq!(serde_json::from_str::<Failure>(&json).unwrap(), failure);
    }
}
