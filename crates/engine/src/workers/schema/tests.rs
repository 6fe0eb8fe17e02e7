//! Tests of the checks of payloads against schemas.

use super::*;

fn fits(schema: &str, value: &str) -> Result<(), String> {
    let schema = Payload::from_json(schema.to_owned()).unwrap();
    check(
        Some(&schema),
        &Payload::from_json(value.to_owned()).unwrap(),
    )
}

#[test]
fn a_mismatch_is_reported_with_its_path() {
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
fn formats_of_integers_are_checked() {
    let narrow = r#"{"type": "integer", "format": "uint8"}"#;
    for (value, is_fit) in [
        ("0", true),
        ("255", true),
        ("256", false),
        ("-1", false),
        ("1.0", false),
    ] {
        assert_eq!(fits(narrow, value).is_ok(), is_fit, "{value}");
    }
    let signed = r#"{"format": "int32"}"#;
    for (value, is_fit) in [
        ("-2147483648", true),
        ("2147483648", false),
        ("\"text\"", true),
    ] {
        assert_eq!(fits(signed, value).is_ok(), is_fit, "{value}");
    }
    for (format, value, is_fit) in [
        ("int64", "-9223372036854775808", true),
        ("int64", "9223372036854775808", false),
        ("uint64", "18446744073709551615", true),
        ("uint", "1e3", false),
        ("interval", "1.5", true),
        ("double", "1.0", true),
    ] {
        let schema = format!(r#"{{"format": "{format}"}}"#);
        assert_eq!(fits(&schema, value).is_ok(), is_fit, "{format} {value}");
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
