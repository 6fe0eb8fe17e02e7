//! Parts of keys: purposes of timers, locations, and parts of variable length.

use everstep_model::record::TimerPurpose;
use everstep_model::{Location, Name, Scope, Segment};

use super::bytes::{Damaged, In, Out, text};
use crate::row::TimerRow;

/// The longest last part of a key that is stored in full.
pub const TAIL_MAX: usize = 1_024;

macro_rules! purposes {
    ($($purpose:ident = $code:literal),*) => {
        fn purpose_code(purpose: TimerPurpose) -> u8 {
            match purpose {
                $(TimerPurpose::$purpose => $code,)*
            }
        }

        /// Decodes the purpose of a timer.
        pub fn purpose(code: u8) -> Result<TimerPurpose, Damaged> {
            match code {
                $($code => Ok(TimerPurpose::$purpose),)*
                _ => Err(Damaged("a timer has an unknown purpose")),
            }
        }
    };
}

purposes! {
    Sleep = 0, Wait = 1, Rpc = 2, Retry = 3, ExecutionRetry = 4, Deadline = 5, Child = 6, Undo = 7,
    Expiry = 8
}

/// Encodes a location so that bytes sort like locations. A zero ends each name, because names
/// contain no control characters.
pub(super) fn location_bytes(location: &Location) -> Vec<u8> {
    let mut out = Out::default();
    for segment in location.scope.segments() {
        match segment {
            Segment::Named(name, counter) => {
                out.byte(1).raw(name.as_str().as_bytes()).byte(0);
                out.raw(&counter.to_be_bytes());
            }
            Segment::Iteration(number) => {
                out.byte(2).fixed(*number);
            }
        }
    }
    out.byte(0).raw(location.name.as_str().as_bytes()).byte(0);
    out.raw(&location.counter.to_be_bytes());
    out.0
}

pub(super) fn location(input: &mut In<'_>) -> Result<Location, Damaged> {
    let mut path = Vec::new();
    loop {
        match input.byte()? {
            0 => break,
            1 => path.push(Segment::Named(name_part(input)?, input.fixed_short()?)),
            2 => path.push(Segment::Iteration(input.fixed()?)),
            _ => return Err(Damaged("a scope is of an unknown kind")),
        }
    }
    Ok(Location {
        scope: Scope::from_segments(path),
        name: name_part(input)?,
        counter: input.fixed_short()?,
    })
}

/// Writes the purpose and the location of a timer to its key. Returns the value of its row, which
/// is the location if it is too long for a key, and otherwise empty.
pub fn put_timer(key: &mut Out, timer: &TimerRow) -> Vec<u8> {
    key.byte(purpose_code(timer.purpose));
    let Some(location) = &timer.location else {
        key.byte(0);
        return Vec::new();
    };
    let whole = location_bytes(location);
    let fits = whole.len() <= TAIL_MAX;
    key.byte(if fits { 1 } else { 2 });
    tail(key, &whole);
    if fits { Vec::new() } else { whole }
}

/// Reads what [`put_timer`] wrote.
pub fn take_timer(
    key: &mut In<'_>,
    value: &[u8],
) -> Result<(TimerPurpose, Option<Location>), Damaged> {
    let purpose = purpose(key.byte()?)?;
    let location = match key.byte()? {
        0 => None,
        1 => Some(location(key)?),
        2 => Some(location(&mut In(value))?),
        _ => return Err(Damaged("a timer's location is of an unknown kind")),
    };
    Ok((purpose, location))
}

fn name_part(input: &mut In<'_>) -> Result<Name, Damaged> {
    checked_name(text(input.until_zero()?)?)
}

/// Converts a stored text to a name.
pub fn checked_name(text: &str) -> Result<Name, Damaged> {
    Name::internal(text).map_err(|_| Damaged("a name breaks the rules of names"))
}

/// Writes a part of a key that a user chose: in full, or truncated and hashed if it is longer than
/// [`TAIL_MAX`].
pub fn tail(key: &mut Out, bytes: &[u8]) {
    match bytes.split_at_checked(TAIL_MAX) {
        Some((kept, rest)) if !rest.is_empty() => key.raw(kept).raw(&fnv(bytes).to_be_bytes()),
        _ => key.raw(bytes),
    };
}

/// Computes FNV-1a with 128 bits, which is permanent, unlike the hashers of the standard library.
fn fnv(bytes: &[u8]) -> u128 {
    let start = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
    let prime = 0x0000_0000_0100_0000_0000_0000_0000_013b_u128;
    let step = |hash: u128, byte: &u8| (hash ^ u128::from(*byte)).wrapping_mul(prime);
    bytes.iter().fold(start, step)
}

#[cfg(test)]
mod tests;
