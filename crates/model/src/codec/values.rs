//! The encoding of the values inside records.

use std::time::Duration;

use bytes::Bytes;

use super::error::DecodeError;
use super::reader::Reader;
use super::wire::{Wire, enum_codec, newtype_codec, struct_codec};
use super::writer::Writer;
use crate::duration::as_millis;
use crate::id::{Epoch, ExecutorSeq, Generation, RpcId, RunId, Seed};
use crate::location::{Location, Scope, Segment};
use crate::name::Name;
use crate::offset::{RecordNumber, RecordRange};
use crate::payload::Payload;
use crate::time::Timestamp;
use crate::trace::{SpanId, TraceId, TraceParent};

impl Wire for u64 {
    fn put(&self, out: &mut Writer) {
        out.varint(*self);
    }
    fn take(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        input.varint()
    }
}

impl Wire for u32 {
    fn put(&self, out: &mut Writer) {
        out.varint(u64::from(*self));
    }
    fn take(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Self::try_from(input.varint()?).map_err(|_| DecodeError::Damaged("a number is too large"))
    }
}

impl Wire for bool {
    fn put(&self, out: &mut Writer) {
        out.byte(u8::from(*self));
    }
    fn take(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        match input.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(DecodeError::Damaged("a flag is neither 0 nor 1")),
        }
    }
}

impl Wire for String {
    fn put(&self, out: &mut Writer) {
        out.bytes(self.as_bytes());
    }
    fn take(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        input.text().map(str::to_owned)
    }
}

impl Wire for Bytes {
    fn put(&self, out: &mut Writer) {
        out.bytes(self);
    }
    fn take(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        input.bytes()
    }
}

impl<T: Wire> Wire for Box<T> {
    fn put(&self, out: &mut Writer) {
        T::put(self, out);
    }
    fn take(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        T::take(input).map(Self::new)
    }
}

impl<T: Wire> Wire for Option<T> {
    fn put(&self, out: &mut Writer) {
        match self {
            None => out.byte(0),
            Some(value) => {
                out.byte(1);
                value.put(out);
            }
        }
    }
    fn take(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        match input.byte()? {
            0 => Ok(None),
            1 => T::take(input).map(Some),
            _ => Err(DecodeError::Damaged(
                "an optional field is neither absent nor present",
            )),
        }
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn put(&self, out: &mut Writer) {
        out.varint(self.len() as u64);
        for item in self {
            item.put(out);
        }
    }
    fn take(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let count = input.varint()?;
        // Every item takes at least one byte.
        if count > input.remaining() as u64 {
            return Err(DecodeError::Damaged("a list is longer than its bytes"));
        }
        (0..count).map(|_| T::take(input)).collect()
    }
}

impl Wire for Name {
    fn put(&self, out: &mut Writer) {
        out.name(self);
    }
    fn take(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        input.name()
    }
}

impl Wire for Payload {
    fn put(&self, out: &mut Writer) {
        out.bytes(self.as_bytes());
    }
    fn take(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        input.bytes().map(Self::from_stored)
    }
}

impl Wire for Timestamp {
    fn put(&self, out: &mut Writer) {
        out.varint(self.as_millis());
    }
    fn take(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        input.varint().map(Self::from_millis)
    }
}

impl Wire for Duration {
    fn put(&self, out: &mut Writer) {
        out.varint(as_millis(*self));
    }
    fn take(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        input.varint().map(Self::from_millis)
    }
}

impl Wire for Seed {
    fn put(&self, out: &mut Writer) {
        out.out.extend_from_slice(&self.0.to_le_bytes());
    }
    fn take(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        input.array().map(u64::from_le_bytes).map(Self)
    }
}

impl Wire for TraceParent {
    fn put(&self, out: &mut Writer) {
        out.out.extend_from_slice(&self.trace.0);
        out.out.extend_from_slice(&self.span.0);
    }
    fn take(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            trace: TraceId(input.array()?),
            span: SpanId(input.array()?),
        })
    }
}

impl Wire for RunId {
    fn put(&self, out: &mut Writer) {
        out.bytes(self.as_str().as_bytes());
    }
    fn take(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Self::new(input.text()?).map_err(|_| DecodeError::Damaged("a run id breaks its rules"))
    }
}

impl Wire for RpcId {
    fn put(&self, out: &mut Writer) {
        out.bytes(self.0.as_bytes());
    }
    fn take(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self(input.text()?.into()))
    }
}

impl Wire for Location {
    fn put(&self, out: &mut Writer) {
        let path = self.scope.segments();
        out.varint(path.len() as u64);
        for segment in path {
            segment.put(out);
        }
        self.name.put(out);
        self.counter.put(out);
    }
    fn take(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            scope: Scope::from_segments(Vec::take(input)?),
            name: Name::take(input)?,
            counter: u32::take(input)?,
        })
    }
}

struct_codec!(RecordRange { first, last } + {});
newtype_codec!(Epoch, ExecutorSeq, Generation, RecordNumber);
enum_codec!(Segment { Named(name, counter) = 0, Iteration(number) = 1 });
