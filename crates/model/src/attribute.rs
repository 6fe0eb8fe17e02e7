//! Rules for the attributes of a run: names that a query can contain, and values that a query can
//! compare.

use serde_json::Value;

use crate::limits::ATTRIBUTE_BYTES_MAX;
use crate::name::InvalidName;
use crate::payload::Payload;
use crate::text::excerpt;

/// Words of the query language, which cannot be names of attributes.
const KEYWORDS: [&str; 10] = [
    "created",
    "error",
    "limitedBy",
    "parent",
    "root",
    "schedule",
    "status",
    "tag",
    "type",
    "updated",
];

/// Why something cannot be an attribute.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidAttribute {
    /// The name breaks a rule.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// The value is an object, a list or `null`.
    #[error("an attribute must be a number, a boolean or a string")]
    Type,
    /// The value is too long.
    #[error("an attribute may have at most {ATTRIBUTE_BYTES_MAX} bytes")]
    TooLong,
}

/// Checks the name and the value of an attribute.
pub fn check_attribute(name: &str, value: &Payload) -> Result<(), InvalidAttribute> {
    check_name(name)?;
    let bytes = value.as_bytes();
    if bytes.len() > ATTRIBUTE_BYTES_MAX {
        return Err(InvalidAttribute::TooLong);
    }
    match serde_json::from_slice(bytes) {
        Ok(Value::Bool(_) | Value::Number(_) | Value::String(_)) => Ok(()),
        _ => Err(InvalidAttribute::Type),
    }
}

fn check_name(name: &str) -> Result<(), InvalidName> {
    let invalid = |reason| {
        let given = excerpt(name);
        Err(InvalidName { given, reason })
    };
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(is_allowed) {
        return invalid(
            "an attribute's name begins with a letter and consists of letters, digits, `_`, `-` and `.`",
        );
    }
    if KEYWORDS.contains(&name) {
        return invalid("it is a word of the query language; choose another name");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, json: &str) -> Result<(), InvalidAttribute> {
        check_attribute(name, &Payload::from_json(json.to_owned()).unwrap())
    }

    #[test]
    fn names_that_a_query_cannot_contain_are_refused() {
        for name in [
            "",
            "1st",
            "_a",
            "a b",
            "a:b",
            "größe",
            "status",
            "limitedBy",
        ] {
            let refused = check(name, "1");
            assert!(matches!(refused, Err(InvalidAttribute::Name(_))), "{name}");
        }
        for name in ["a", "customer.id", "due-date", "Stage_2", "Status"] {
            assert_eq!(check(name, "1"), Ok(()), "{name}");
        }
    }

    #[test]
    fn values_that_cannot_be_compared_or_are_too_long_are_refused() {
        for json in ["null", "[1]", "{\"a\":1}"] {
            assert_eq!(check("a", json), Err(InvalidAttribute::Type), "{json}");
        }
        for json in ["1500", "-1.5", "true", "\"2026-12-01T00:00:00Z\""] {
            assert_eq!(check("a", json), Ok(()), "{json}");
        }
        let text = |length: usize| format!("\"{}\"", "x".repeat(length - 2));
        assert_eq!(check("a", &text(256)), Ok(()));
        assert_eq!(check("a", &text(257)), Err(InvalidAttribute::TooLong));
    }
}
