//! Checks payloads against the JSON schemas of workflows whose code runs elsewhere.
//!
//! Keywords about the shape of a value are checked. Those that need more than the value and the
//! schema (`pattern`, `format`, external references) are left to the workflow's code, which decodes
//! every payload anyway.
//!
//! Schema and value both come from outside, so the cost of a check is limited (`budget.rs`), and
//! messages are built only where they are needed.

mod budget;
mod combinations;
#[cfg(test)]
mod cost_tests;
mod place;
mod same;
mod values;

use everstep_model::Payload;
use serde_json::{Map, Value};

use budget::{Budget, Misfit};
use place::Place;

/// The maximum depth of nested schemas, which stops a schema that refers to itself. It suffices for
/// the deepest value that can be decoded, with a reference at every level.
const DEPTH_MAX: usize = 256;

/// Checks a payload against a schema, and returns the mismatch as text.
pub(crate) fn check(schema: Option<&Payload>, payload: &Payload) -> Result<(), String> {
    let Some(schema) = schema else {
        return Ok(());
    };
    let schema: Value = schema.decode().map_err(|error| error.to_string())?;
    let value: Value = payload.decode().map_err(|error| error.to_string())?;
    let whole = Checker {
        root: &schema,
        budget: &Budget::new(),
        depth: 0,
        explains: true,
    };
    let checked = whole.check(&schema, &value, Place::Whole);
    checked.map_err(Misfit::into_text)
}

#[derive(Clone, Copy)]
struct Checker<'a> {
    root: &'a Value,
    budget: &'a Budget,
    depth: usize,
    /// Whether messages are needed.
    explains: bool,
}

impl<'a> Checker<'a> {
    fn check(self, schema: &'a Value, value: &Value, place: Place<'_>) -> Result<(), Misfit> {
        self.budget.spend(1)?;
        let keywords = match schema {
            Value::Bool(true) => return Ok(()),
            Value::Bool(false) => return self.wrong(|| format!("{place} is not allowed")),
            Value::Object(keywords) => keywords,
            _ => return Ok(()),
        };
        if self.depth > DEPTH_MAX {
            let detail = format!("{place} is nested too deeply for its schema");
            return Err(Misfit::Undecided(detail));
        }
        let inner = Self {
            depth: self.depth + 1,
            ..self
        };
        inner.check_value(keywords, value, place)?;
        inner.check_reference(keywords, value, place)?;
        inner.check_combinations(keywords, value, place)?;
        match value {
            Value::Object(fields) => inner.check_fields(keywords, fields, place),
            Value::Array(items) => inner.check_items(keywords, items, place),
            _ => Ok(()),
        }
    }

    /// A mismatch, with its message if that is needed. The length of the message is part of the
    /// cost.
    fn wrong(self, message: impl FnOnce() -> String) -> Result<(), Misfit> {
        if !self.explains {
            return Err(Misfit::Wrong(String::new()));
        }
        let message = message();
        self.budget.spend(message.len())?;
        Err(Misfit::Wrong(message))
    }

    fn check_fields(
        self,
        keywords: &'a Map<String, Value>,
        fields: &Map<String, Value>,
        place: Place<'_>,
    ) -> Result<(), Misfit> {
        let required = keywords.get("required").and_then(Value::as_array);
        self.budget.spend(required.map_or(0, Vec::len))?;
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            if !fields.contains_key(name) {
                return self.wrong(|| format!("{place} has no field `{}`", place::cut(name)));
            }
        }
        let known = keywords.get("properties").and_then(Value::as_object);
        let others = keywords
            .get("additionalProperties")
            .filter(|_| !keywords.contains_key("patternProperties"));
        self.budget.spend(fields.len())?;
        for (name, value) in fields {
            let schema = known.and_then(|known| known.get(name)).or(others);
            if let Some(schema) = schema {
                self.check(schema, value, Place::Field(name, &place))?;
            }
        }
        Ok(())
    }

    fn check_items(
        self,
        keywords: &'a Map<String, Value>,
        items: &[Value],
        place: Place<'_>,
    ) -> Result<(), Misfit> {
        let first = keywords.get("prefixItems").and_then(Value::as_array);
        let rest = keywords.get("items");
        let checked = match rest {
            Some(_) => items.len(),
            None => first.map_or(0, Vec::len).min(items.len()),
        };
        for (index, item) in items.iter().take(checked).enumerate() {
            let schema = first.and_then(|first| first.get(index)).or(rest);
            if let Some(schema) = schema {
                self.check(schema, item, Place::Item(index, &place))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(schema: &str, value: &str) -> Result<(), String> {
        let schema = Payload::from_json(schema.to_owned()).unwrap();
        check(
            Some(&schema),
            &Payload::from_json(value.to_owned()).unwrap(),
        )
    }

    #[test]
    fn a_mismatch_is_reported_with_its_place() {
        let schema = r##"{
            "type": "object",
            "required": ["amount"],
            "properties": {"amount": {"$ref": "#/$defs/amount"}, "tags": {"type": "array", "items": {"type": "string"}}},
            "additionalProperties": false,
            "$defs": {"amount": {"type": "integer", "minimum": 1}}
        }"##;
        assert_eq!(fits(schema, r#"{"amount": 2, "tags": ["a"]}"#), Ok(()));
        for (value, wrong) in [
            ("7", "the value is a number, not an object"),
            ("{}", "the value has no field `amount`"),
            (
                r#"{"amount": 0}"#,
                "field `amount` of the value is less than 1",
            ),
            (
                r#"{"amount": 1.5}"#,
                "field `amount` of the value is a number, not an integer",
            ),
            (
                r#"{"amount": 1, "tags": [1]}"#,
                "item 0 of field `tags` of the value is a number, not a string",
            ),
            (
                r#"{"amount": 1, "x": 1}"#,
                "field `x` of the value is not allowed",
            ),
        ] {
            assert_eq!(fits(schema, value), Err(wrong.to_owned()), "{value}");
        }
    }

    #[test]
    fn schemas_can_be_combined() {
        let either = r#"{"oneOf": [{"type": "null"}, {"const": 1}, {"enum": [1, "b"]}]}"#;
        assert!(fits(either, "null").is_ok() && fits(either, r#""b""#).is_ok());
        assert!(fits(either, "1").is_err(), "it matches two");
        assert!(fits(either, "2").is_err());
        assert!(fits(r#"{"anyOf": [{"type": "string"}, {"minimum": 3}]}"#, "2").is_err());
        assert!(fits(r#"{"allOf": [{"minimum": 3}, {"maximum": 4}]}"#, "4").is_ok());
        assert!(fits(r#"{"not": {"type": "boolean"}}"#, "true").is_err());
        let conditional = r#"{"if": {"type": "string"}, "then": {"minLength": 2}, "else": false}"#;
        assert!(fits(conditional, r#""ab""#).is_ok());
        assert!(fits(conditional, r#""a""#).is_err() && fits(conditional, "1").is_err());
    }

    #[test]
    fn a_check_of_a_recursive_schema_terminates() {
        assert!(fits(r##"{"$ref": "#"}"##, "1").is_err());
        let list = r##"{"type": ["object", "null"], "properties": {"next": {"$ref": "#"}}}"##;
        assert!(fits(list, r#"{"next": {"next": null}}"#).is_ok());
        assert!(fits(list, r#"{"next": {"next": 1}}"#).is_err());
    }

    #[test]
    fn a_deep_value_is_checked_completely() {
        let list = r##"{"type": ["object", "null"], "properties": {"next": {"$ref": "#"}}}"##;
        let nested = |inner: &str| {
            let (before, after) = (r#"{"next":"#.repeat(120), "}".repeat(120));
            format!("{before}{inner}{after}")
        };
        assert_eq!(fits(list, &nested("null")), Ok(()));
        assert!(fits(list, &nested("1")).is_err());
    }

    #[test]
    fn unknown_keywords_are_ignored() {
        assert!(
            fits(
                r#"{"pattern": "^a", "format": "email", "x-own": 1}"#,
                r#""b""#
            )
            .is_ok()
        );
        assert!(fits(r#"{"$ref": "https://example.com/other"}"#, "1").is_ok());
        assert!(check(None, &Payload::null()).is_ok());
    }
}
