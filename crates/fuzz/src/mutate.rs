//! Mutates valid inputs.

use crate::random::Random;

/// The maximum size of an input.
const INPUT_BYTES_MAX: usize = 96 * 1024;

/// Numbers at the boundaries of encodings, and words with a meaning in some format.
const CRITICAL: &[&[u8]] = &[
    b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02",
    b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01",
    b"\xff\xff\xff\xff\x0f",
    b"\x80\x00",
    b"\xff\xff\xff\xff\xff\xff\xff\xff",
    b"\x00\x00\x00\x00\x00\x00\x00\x00",
    b"18446744073709551615",
    b"18446744073709551616",
    b"9999999999999999",
    b"-1",
    b"+1",
    b"1e999",
    b"0.5",
    b"null",
    b"{}",
    b"[",
    b"{\"\":",
    b"\n",
    b"\r",
    b"\\u0000",
    b"\\ud800",
    b"\xc3\xa4",
    b"\xed\xa0\x80",
    b"\xe2\x80\xa8",
    b"~",
    b"/",
    b":",
    b"@",
    b"..",
    b"__",
];

/// Returns an input after one to eight mutations, some of which insert parts of other inputs.
pub(crate) fn mutated(random: &mut Random, pool: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = random.pick(pool).clone();
    for _ in 0..=random.below(8) {
        change(random, &mut bytes, pool);
        bytes.truncate(INPUT_BYTES_MAX);
    }
    bytes
}

fn change(random: &mut Random, bytes: &mut Vec<u8>, pool: &[Vec<u8>]) {
    let at = random.below(bytes.len());
    let range = random.range(bytes.len());
    match random.below(12) {
        0 | 1 => flip(random, bytes, at),
        2 => set(bytes, at, random.next() as u8),
        3 => set(bytes, at, *random.pick(&[0, 1, 2, 0x7f, 0x80, 0xff])),
        4 => {
            let near = nudged(random, bytes.get(at));
            set(bytes, at, near);
        }
        5 => bytes.truncate(at),
        6 => drop(bytes.drain(range)),
        7 => {
            let critical = *random.pick(CRITICAL);
            bytes.splice(at..at, critical.iter().copied());
        }
        8 => {
            let critical = *random.pick(CRITICAL);
            bytes.splice(range, critical.iter().copied());
        }
        9 => {
            let other = random.pick(pool);
            let part = other[random.range(other.len())].to_vec();
            bytes.splice(range, part);
        }
        10 => {
            let part = bytes[range].to_vec();
            bytes.splice(at..at, part);
        }
        _ => repeat(random, bytes, range),
    }
}

fn flip(random: &mut Random, bytes: &mut [u8], at: usize) {
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= 1 << random.below(8);
    }
}

fn set(bytes: &mut [u8], at: usize, value: u8) {
    if let Some(byte) = bytes.get_mut(at) {
        *byte = value;
    }
}

/// Changes a number slightly. Wrong lengths and counts pass the first checks of many decoders.
fn nudged(random: &mut Random, byte: Option<&u8>) -> u8 {
    let by = random.below(9) as u8;
    byte.copied()
        .unwrap_or_default()
        .wrapping_add(by)
        .wrapping_sub(4)
}

/// Repeats a part of the input, sometimes up to the maximum size, to test depth and length.
fn repeat(random: &mut Random, bytes: &mut Vec<u8>, range: std::ops::Range<usize>) {
    let part = bytes[range.clone()].to_vec();
    let fits = (INPUT_BYTES_MAX - bytes.len().min(INPUT_BYTES_MAX)) / part.len().max(1);
    let times = match random.below(64) {
        0 => fits,
        _ => random.below(16).min(fits),
    };
    bytes.splice(range.end..range.end, part.repeat(times));
}
