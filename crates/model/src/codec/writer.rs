//! The encoder: varints, byte strings, and names that are written out once per frame.

use crate::name::Name;

/// The number of recent names that are searched for a repetition. Writing a name out twice is
/// legal, only longer.
const NAMES_SEARCHED: usize = 64;
/// The initial capacity for names. Most frames are those of a step and have one name.
const NAMES_EXPECTED: usize = 2;

#[derive(Debug, Default)]
pub(crate) struct Writer {
    pub(crate) out: Vec<u8>,
    names: Vec<Name>,
}

impl Writer {
    /// Reserves capacity at once, because growing is more expensive.
    pub(crate) fn with_room(bytes: usize) -> Self {
        Self {
            out: Vec::with_capacity(bytes),
            names: Vec::with_capacity(NAMES_EXPECTED),
        }
    }

    pub(crate) fn byte(&mut self, byte: u8) {
        self.out.push(byte);
    }

    pub(crate) fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.out.push((value as u8) | 0x80);
            value >>= 7;
        }
        self.out.push(value as u8);
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.varint(bytes.len() as u64);
        self.out.extend_from_slice(bytes);
    }

    /// Writes 0 and the text for a name that is new in this frame, 1 + its index for a known one.
    pub(crate) fn name(&mut self, name: &Name) {
        let from = self.names.len().saturating_sub(NAMES_SEARCHED);
        let recent = self.names.iter().enumerate().skip(from);
        for (index, known) in recent {
            if known == name {
                return self.varint(index as u64 + 1);
            }
        }
        self.varint(0);
        self.bytes(name.as_str().as_bytes());
        self.names.push(name.clone());
    }

    /// Writes a length prefix and then what `fill` writes. Lengths below 128 take one byte and no
    /// copy.
    pub(crate) fn delimited(&mut self, fill: impl FnOnce(&mut Self)) {
        let start = self.out.len();
        self.out.push(0);
        fill(self);
        let length = self.out.len() - start - 1;
        if let (true, Some(first)) = (length < 0x80, self.out.get_mut(start)) {
            *first = length as u8;
            return;
        }
        let mut prefix = Self::default();
        prefix.varint(length as u64);
        self.out.splice(start..=start, prefix.out);
    }
}
