//! The decoder. It never panics, and never allocates more than the input justifies.

use bytes::Bytes;

use super::error::DecodeError;
use crate::name::{Interner, Name};

const ENDS_EARLY: DecodeError = DecodeError::Damaged("it ends early");

#[derive(Debug)]
pub(crate) struct Reader<'a> {
    source: &'a Bytes,
    at: usize,
    end: usize,
    names: Vec<Name>,
    interner: &'a mut Interner,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(source: &'a Bytes, interner: &'a mut Interner) -> Self {
        Self {
            source,
            at: 0,
            end: source.len(),
            names: Vec::new(),
            interner,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.at >= self.end
    }

    pub(crate) fn remaining(&self) -> usize {
        self.end.saturating_sub(self.at)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, DecodeError> {
        if self.is_empty() {
            return Err(ENDS_EARLY);
        }
        let byte = self.source.get(self.at).copied().ok_or(ENDS_EARLY)?;
        self.at += 1;
        Ok(byte)
    }

    pub(crate) fn array<const LENGTH: usize>(&mut self) -> Result<[u8; LENGTH], DecodeError> {
        let mut bytes = [0; LENGTH];
        for byte in &mut bytes {
            *byte = self.byte()?;
        }
        Ok(bytes)
    }

    pub(crate) fn varint(&mut self) -> Result<u64, DecodeError> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(DecodeError::Damaged("a number is too long"))
    }

    pub(crate) fn bytes(&mut self) -> Result<Bytes, DecodeError> {
        let length = self.length()?;
        let bytes = self.source.slice(self.at..self.at + length);
        self.at += length;
        Ok(bytes)
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, DecodeError> {
        let length = self.length()?;
        let bytes = self
            .source
            .get(self.at..self.at + length)
            .ok_or(ENDS_EARLY)?;
        self.at += length;
        std::str::from_utf8(bytes).map_err(|_| DecodeError::Damaged("a text is not UTF-8"))
    }

    pub(crate) fn name(&mut self) -> Result<Name, DecodeError> {
        let index = self.varint()?;
        if index == 0 {
            let text = self.text()?;
            let name = self
                .interner
                .internal(text)
                .map_err(|_| DecodeError::Damaged("a name breaks the rules of names"))?;
            self.names.push(name.clone());
            return Ok(name);
        }
        usize::try_from(index - 1)
            .ok()
            .and_then(|index| self.names.get(index).cloned())
            .ok_or(DecodeError::Damaged("a name was never spelled out"))
    }

    /// Reads what `Writer::delimited` wrote. Bytes that `read` leaves belong to a newer release and
    /// are skipped.
    pub(crate) fn delimited<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        let length = self.length()?;
        let outer_end = self.end;
        self.end = self.at + length;
        let value = read(self);
        self.at = self.end;
        self.end = outer_end;
        value
    }

    fn length(&mut self) -> Result<usize, DecodeError> {
        let length = usize::try_from(self.varint()?).map_err(|_| ENDS_EARLY)?;
        if length > self.remaining() {
            return Err(ENDS_EARLY);
        }
        Ok(length)
    }
}
