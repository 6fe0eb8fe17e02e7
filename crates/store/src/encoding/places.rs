//! The parts of keys that keep an order: timers' purposes, locations, and parts of free length.

use everstep_model::record::TimerPurpose;
use everstep_model::{Location, Name, Scope, Segment};

use super::bytes::{Damaged, In, Out, text};
use crate::row::TimerRow;

/// Bytes of a key's last part that are kept as they are.
pub const TAIL_MAX: usize = 1_024;

/// The byte of a purpose.
fn purpose_code(purpose: TimerPurpose) -> u8 {
    match purpose {
        TimerPurpose::Sleep => 0,
        TimerPurpose::Wait => 1,
        TimerPurpose::Rpc => 2,
        TimerPurpose::Retry => 3,
        TimerPurpose::ExecutionRetry => 4,
        TimerPurpose::Deadline => 5,
        TimerPurpose::Child => 6,
        TimerPurpose::Undo => 7,
        TimerPurpose::Expiry => 8,
    }
}

/// The purpose of a byte.
pub fn purpose(code: u8) -> Result<TimerPurpose, Damaged> {
    Ok(match code {
        0 => TimerPurpose::Sleep,
        1 => TimerPurpose::Wait,
        2 => TimerPurpose::Rpc,
        3 => TimerPurpose::Retry,
        4 => TimerPurpose::ExecutionRetry,
        5 => TimerPurpose::Deadline,
        6 => TimerPurpose::Child,
        7 => TimerPurpose::Undo,
        8 => TimerPurpose::Expiry,
        _ => return Err(Damaged("a timer has an unknown purpose")),
    })
}

/// A location so that byte order is its own order. Names hold no control characters, so a zero ends
/// them.
#[must_use]
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

/// Reads a location back.
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

/// Writes the purpose and the location of a timer to its key. Returns the value of its row: the
/// location if it is too long for a key, otherwise nothing.
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

/// Reads what [`put_timer`] has written.
pub fn take_timer(
    key: &mut In<'_>,
    value: &[u8],
) -> Result<(TimerPurpose, Option<Location>), Damaged> {
    let purpose = purpose(key.byte()?)?;
    let location = match key.byte()? {
        0 => None,
        1 => Some(location(key)?),
        2 => Some(location(&mut In(value))?),
        _ => return Err(Damaged("a timer's place is of an unknown kind")),
    };
    Ok((purpose, location))
}

fn name_part(input: &mut In<'_>) -> Result<Name, Damaged> {
    checked_name(text(input.until_zero()?)?)
}

/// A name as it was stored.
pub fn checked_name(text: &str) -> Result<Name, Damaged> {
    Name::internal(text).map_err(|_| Damaged("a name breaks the rules of names"))
}

/// Writes a part of a key that a user chose: as it is, or cut and hashed if it is longer than
/// [`TAIL_MAX`].
pub fn tail(key: &mut Out, bytes: &[u8]) {
    match bytes.split_at_checked(TAIL_MAX) {
        Some((kept, rest)) if !rest.is_empty() => key.raw(kept).raw(&fnv(bytes).to_be_bytes()),
        _ => key.raw(bytes),
    };
}

/// FNV-1a with 128 bits: stable for ever, which the standard library's hashers are not.
fn fnv(bytes: &[u8]) -> u128 {
    let start = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
    let prime = 0x0000_0000_0100_0000_0000_0000_0000_013b_u128;
    let step = |hash: u128, byte: &u8| (hash ^ u128::from(*byte)).wrapping_mul(prime);
    bytes.iter().fold(start, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_fnv_1a() {
        assert_eq!(fnv(b""), 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);
        assert_eq!(fnv(b"a"), 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964);
    }
}
