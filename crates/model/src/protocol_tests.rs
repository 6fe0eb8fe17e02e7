//! Checks that PROTOCOL.md documents every record with every field, every error code and every
//! limit, and nothing else.

use std::collections::BTreeSet;

use serde::de::{Error as _, Visitor};
use serde::{Deserialize, Deserializer};

use crate::{Body, ErrorCode};

const TEXT: &str = include_str!("../../../PROTOCOL.md");
const LIMITS: &str = include_str!("limits.rs");

/// Returns the text under a heading, up to the next heading of the same or a higher level.
fn section(heading: &str) -> &'static str {
    let level = heading.chars().take_while(|c| *c == '#').count();
    let (_, rest) = TEXT
        .split_once(&format!("\n{heading}\n"))
        .unwrap_or_else(|| panic!("there is no section {heading}"));
    let is_end = |line: &str| {
        let depth = line.chars().take_while(|c| *c == '#').count();
        (1..=level).contains(&depth)
    };
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if is_end(line) {
            return &rest[..at];
        }
        at += line.len();
    }
    rest
}

/// Returns the words in backticks in the first column of the tables of a section.
fn first_column(section: &str) -> BTreeSet<&str> {
    let cells = section
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    cells.collect()
}

/// Returns the fields of a struct, as its implementation of `Deserialize` names them.
pub(crate) fn field_names<'de, T: Deserialize<'de>>() -> &'static [&'static str] {
    let mut names: &'static [&'static str] = &[];
    let _ = T::deserialize(FieldRecorder(&mut names));
    names
}

/// A deserializer without input that records the fields of a struct.
struct FieldRecorder<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for FieldRecorder<'_> {
    type Error = serde::de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(Self::Error::custom("there is no input"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        *self.0 = fields;
        self.deserialize_any(visitor)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[test]
fn every_record_is_documented_with_its_fields() {
    for name in Body::TYPE_NAMES {
        let documented = first_column(section(&format!("#### `{name}`")));
        let fields = Body::field_names(name).unwrap().iter().copied();
        assert_eq!(documented, fields.collect(), "the fields of `{name}`");
    }
    let records = TEXT
        .split("\n## ")
        .find(|part| part.starts_with("2. Records"));
    let headings = records.unwrap().lines().filter_map(|line| {
        let name = line.strip_prefix("#### `")?;
        name.strip_suffix('`')
    });
    let headings: Vec<_> = headings.collect();
    assert_eq!(headings.len(), Body::TYPE_NAMES.len(), "{headings:?}");
}

#[test]
fn every_error_code_is_documented() {
    let codes: BTreeSet<_> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(first_column(section("## 6. Errors")), codes);
}

#[test]
fn every_limit_is_documented_with_its_value() {
    let documented = section("## 7. Limits");
    let consts = LIMITS
        .lines()
        .filter_map(|line| line.strip_prefix("pub const "));
    for line in consts {
        let (name, value) = line.split_once(':').unwrap();
        let value = value.split_once('=').unwrap().1;
        let factors = value.trim().trim_end_matches(';').split('*');
        let factors = factors.map(|factor| {
            let digits = factor.trim().trim_start_matches("Duration::from_secs(");
            let digits = digits.trim_end_matches(')').replace('_', "");
            digits.parse::<u64>().unwrap()
        });
        let row = format!("| `{name}` | {}", factors.product::<u64>());
        assert!(documented.contains(&row), "{row}");
    }
}
