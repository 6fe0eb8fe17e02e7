//! Varints, lengths and big-endian numbers. Frames have their own codec in `model`. Reading never
//! panics and never trusts a length.

use everstep_model::Timestamp;

/// Bytes differ from what was written. The text describes how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged(pub &'static str);

const ENDS_EARLY: Damaged = Damaged("it ends early");

/// A writer.
#[derive(Debug, Default)]
pub struct Out(pub Vec<u8>);

impl Out {
    #[allow(missing_docs, reason = "the name says it")]
    pub fn byte(&mut self, byte: u8) -> &mut Self {
        self.0.push(byte);
        self
    }

    /// Writes bytes without a length.
    pub fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// Writes a number in eight bytes that sort like the number.
    pub fn fixed(&mut self, value: u64) -> &mut Self {
        self.raw(&value.to_be_bytes())
    }

    /// Writes a number in as few bytes as it needs.
    pub fn varint(&mut self, mut value: u64) -> &mut Self {
        while value >= 0x80 {
            self.0.push((value as u8) | 0x80);
            value >>= 7;
        }
        self.byte(value as u8)
    }

    /// Writes a time as milliseconds.
    pub fn time(&mut self, time: Timestamp) -> &mut Self {
        self.varint(time.as_millis())
    }

    /// Writes a text after its length.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.varint(text.len() as u64).raw(text.as_bytes())
    }

    /// Writes a flag, and the value if there is one.
    pub fn option<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T) -> &mut Self) {
        self.byte(value.is_some().into());
        if let Some(value) = value {
            write(self, value);
        }
    }
}

/// A reader of the remaining bytes.
#[derive(Debug)]
pub struct In<'a>(pub &'a [u8]);

impl<'a> In<'a> {
    #[allow(missing_docs, reason = "the name says it")]
    pub fn byte(&mut self) -> Result<u8, Damaged> {
        let (first, rest) = self.0.split_first().ok_or(ENDS_EARLY)?;
        self.0 = rest;
        Ok(*first)
    }

    /// Reads `length` bytes.
    pub fn raw(&mut self, length: usize) -> Result<&'a [u8], Damaged> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(ENDS_EARLY)?;
        self.0 = rest;
        Ok(taken)
    }

    /// Reads a number of eight bytes.
    pub fn fixed(&mut self) -> Result<u64, Damaged> {
        let bytes = self.raw(8)?.try_into().map_err(|_| ENDS_EARLY)?;
        Ok(u64::from_be_bytes(bytes))
    }

    /// Reads a number of four bytes.
    pub fn fixed_short(&mut self) -> Result<u32, Damaged> {
        let bytes = self.raw(4)?.try_into().map_err(|_| ENDS_EARLY)?;
        Ok(u32::from_be_bytes(bytes))
    }

    /// Reads a number of variable length.
    pub fn varint(&mut self) -> Result<u64, Damaged> {
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
        Err(Damaged("a number is too long"))
    }

    /// Reads a number that fits 32 bits.
    pub fn short(&mut self) -> Result<u32, Damaged> {
        u32::try_from(self.varint()?).map_err(|_| Damaged("a number is too large"))
    }

    /// Reads a time in milliseconds.
    pub fn time(&mut self) -> Result<Timestamp, Damaged> {
        self.varint().map(Timestamp::from_millis)
    }

    /// Reads a text after its length.
    pub fn text(&mut self) -> Result<&'a str, Damaged> {
        let length = usize::try_from(self.varint()?).map_err(|_| ENDS_EARLY)?;
        text(self.raw(length)?)
    }

    /// Reads a flag, and the value if the flag is set.
    pub fn option<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Damaged>,
    ) -> Result<Option<T>, Damaged> {
        match self.byte()? {
            flag @ (0 | 1) => self.when(flag == 1, read),
            _ => Err(Damaged("a flag is neither 0 nor 1")),
        }
    }

    /// Reads a value if it is present.
    pub fn when<T>(
        &mut self,
        is_present: bool,
        read: impl FnOnce(&mut Self) -> Result<T, Damaged>,
    ) -> Result<Option<T>, Damaged> {
        is_present.then(|| read(self)).transpose()
    }

    /// Reads the bytes before the next zero, and skips the zero.
    pub fn until_zero(&mut self) -> Result<&'a [u8], Damaged> {
        let length = self.0.iter().position(|b| *b == 0).ok_or(ENDS_EARLY)?;
        let taken = self.raw(length)?;
        self.byte()?;
        Ok(taken)
    }
}

/// Converts bytes to text.
pub fn text(bytes: &[u8]) -> Result<&str, Damaged> {
    std::str::from_utf8(bytes).map_err(|_| Damaged("a text is not UTF-8"))
}
