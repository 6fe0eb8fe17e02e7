//! JSON schemas of workflows whose code is elsewhere: what is sent to their runs is held against them before it is stored.
//!
//! The keywords that say what shape a value has are checked; those that need more than the value and the schema (`pattern`,
//! `format`, references out of the schema) are left to the workflow's own code, which reads every payload anyway.

mod values;

use everstep_model::Payload;
use serde_json::{Map, Value};

/// How deep schemas may refer to each other, so that one that refers to itself comes to an end.
const DEPTH_MAX: usize = 64;

/// Whether a payload fits a schema, and what does not.
pub(crate) fn check(schema: Option<&Payload>, payload: &Payload) -> Result<(), String> {
    let Some(schema) = schema else {
        return Ok(());
    };
    let schema: Value = schema.decode().map_err(|error| error.to_string())?;
    let value: Value = payload.decode().map_err(|error| error.to_string())?;
    let whole = Schema {
        root: &schema,
        depth: 0,
    };
    whole.check(&schema, &value, "the value")
}

/// A schema that is being followed.
#[derive(Clone, Copy)]
struct Schema<'a> {
    root: &'a Value,
    depth: usize,
}

impl<'a> Schema<'a> {
    fn check(self, schema: &'a Value, value: &Value, place: &str) -> Result<(), String> {
        let keywords = match schema {
            Value::Bool(true) => return Ok(()),
            Value::Bool(false) => return Err(format!("{place} is not allowed")),
            Value::Object(keywords) => keywords,
            _ => return Ok(()),
        };
        if self.depth > DEPTH_MAX {
            return Err(format!("{place} is nested too deeply for its schema"));
        }
        let inner = Self {
            depth: self.depth + 1,
            ..self
        };
        values::check(keywords, value, place)?;
        inner.check_reference(keywords, value, place)?;
        inner.check_combinations(keywords, value, place)?;
        match value {
            Value::Object(fields) => inner.check_fields(keywords, fields, place),
            Value::Array(items) => inner.check_items(keywords, items, place),
            _ => Ok(()),
        }
    }

    fn check_reference(
        self,
        keywords: &'a Map<String, Value>,
        value: &Value,
        place: &str,
    ) -> Result<(), String> {
        let reference = keywords.get("$ref").and_then(Value::as_str);
        let target = reference
            .and_then(|reference| reference.strip_prefix('#'))
            .and_then(|pointer| self.root.pointer(pointer));
        target.map_or(Ok(()), |target| self.check(target, value, place))
    }

    fn check_combinations(
        self,
        keywords: &'a Map<String, Value>,
        value: &Value,
        place: &str,
    ) -> Result<(), String> {
        let list = |keyword| keywords.get(keyword).and_then(Value::as_array);
        for schema in list("allOf").into_iter().flatten() {
            self.check(schema, value, place)?;
        }
        let fitting = |schemas: &'a Vec<Value>| {
            let tried = schemas
                .iter()
                .map(|schema| self.check(schema, value, place));
            let (fits, misfits): (Vec<_>, Vec<_>) = tried.partition(Result::is_ok);
            let why = misfits
                .into_iter()
                .filter_map(Result::err)
                .collect::<Vec<_>>();
            (fits.len(), why.join("; or "))
        };
        if let Some(schemas) = list("anyOf") {
            let (fits, why) = fitting(schemas);
            if fits == 0 {
                return Err(why);
            }
        }
        if let Some(schemas) = list("oneOf") {
            match fitting(schemas) {
                (1, _) => {}
                (0, why) => return Err(why),
                (fits, _) => return Err(format!("{place} fits {fits} forms and must fit one")),
            }
        }
        if let Some(schema) = keywords.get("not")
            && self.check(schema, value, place).is_ok()
        {
            return Err(format!("{place} has a form that is not allowed"));
        }
        let Some(condition) = keywords.get("if") else {
            return Ok(());
        };
        let branch = match self.check(condition, value, place) {
            Ok(()) => keywords.get("then"),
            Err(_) => keywords.get("else"),
        };
        branch.map_or(Ok(()), |schema| self.check(schema, value, place))
    }

    fn check_fields(
        self,
        keywords: &'a Map<String, Value>,
        fields: &Map<String, Value>,
        place: &str,
    ) -> Result<(), String> {
        let required = keywords.get("required").and_then(Value::as_array);
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            if !fields.contains_key(name) {
                return Err(format!("{place} has no field `{name}`"));
            }
        }
        let known = keywords.get("properties").and_then(Value::as_object);
        let others = keywords
            .get("additionalProperties")
            .filter(|_| !keywords.contains_key("patternProperties"));
        for (name, value) in fields {
            let schema = known.and_then(|known| known.get(name)).or(others);
            if let Some(schema) = schema {
                self.check(schema, value, &format!("field `{name}` of {place}"))?;
            }
        }
        Ok(())
    }

    fn check_items(
        self,
        keywords: &'a Map<String, Value>,
        items: &[Value],
        place: &str,
    ) -> Result<(), String> {
        let first = keywords.get("prefixItems").and_then(Value::as_array);
        let rest = keywords.get("items");
        for (index, item) in items.iter().enumerate() {
            let schema = first.and_then(|first| first.get(index)).or(rest);
            if let Some(schema) = schema {
                self.check(schema, item, &format!("item {index} of {place}"))?;
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
    fn what_is_wrong_is_named_with_its_place() {
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
    fn forms_can_be_combined() {
        let either = r#"{"oneOf": [{"type": "null"}, {"const": 1}, {"enum": [1, "b"]}]}"#;
        assert!(fits(either, "null").is_ok() && fits(either, r#""b""#).is_ok());
        assert!(fits(either, "1").is_err(), "it fits two");
        assert!(fits(either, "2").is_err());
        assert!(fits(r#"{"anyOf": [{"type": "string"}, {"minimum": 3}]}"#, "2").is_err());
        assert!(fits(r#"{"allOf": [{"minimum": 3}, {"maximum": 4}]}"#, "4").is_ok());
        assert!(fits(r#"{"not": {"type": "boolean"}}"#, "true").is_err());
        let conditional = r#"{"if": {"type": "string"}, "then": {"minLength": 2}, "else": false}"#;
        assert!(fits(conditional, r#""ab""#).is_ok());
        assert!(fits(conditional, r#""a""#).is_err() && fits(conditional, "1").is_err());
    }

    #[test]
    fn a_schema_that_refers_to_itself_comes_to_an_end() {
        assert!(fits(r##"{"$ref": "#"}"##, "1").is_err());
        let list = r##"{"type": ["object", "null"], "properties": {"next": {"$ref": "#"}}}"##;
        assert!(fits(list, r#"{"next": {"next": null}}"#).is_ok());
        assert!(fits(list, r#"{"next": {"next": 1}}"#).is_err());
    }

    #[test]
    fn what_it_does_not_know_it_leaves_to_the_code() {
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
