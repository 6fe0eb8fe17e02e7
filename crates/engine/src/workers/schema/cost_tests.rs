//! The cost of checks: values whose check is too expensive are rejected.

use everstep_model::Payload;

use super::check;

fn fits(schema: &str, value: &str) -> Result<(), String> {
    let json = |text: &str| Payload::from_json(text.to_owned()).unwrap();
    check(Some(&json(schema)), &json(value))
}

/// Repeats a text, separated by commas.
fn many(what: &str) -> String {
    vec![what; 3_000].join(",")
}

fn assert_too_costly(schema: &str, value: &str) {
    let refused = fits(schema, value).unwrap_err();
    assert!(refused.contains("steps"), "{refused:.200}");
}

#[test]
fn nested_alternatives_are_limited() {
    let level = |at: u32| {
        let next = format!(r##"{{"$ref": "#/$defs/{}"}}"##, at + 1);
        format!(r#""{at}": {{"anyOf": [{next}, {next}]}}"#)
    };
    let levels: Vec<_> = (0..60).map(level).collect();
    let levels = levels.join(",");
    assert_too_costly(
        &format!(r##"{{"$ref": "#/$defs/0", "$defs": {{{levels}, "60": false}}}}"##),
        "1",
    );
}

#[test]
fn a_large_value_with_a_large_schema_is_rejected() {
    let numbers = format!("[{}]", many("1"));
    let enumerated = format!(r#"{{"items": {{"enum": [{}, 1]}}}}"#, many("2"));
    assert_too_costly(&enumerated, &numbers);
    let all = many(r#"{"items": {"type": "number"}}"#);
    assert_too_costly(&format!(r#"{{"allOf": [{all}]}}"#), &numbers);
    let required = format!(r#"{{"items": {{"required": [{}]}}}}"#, many(r#""a""#));
    assert_too_costly(&required, &format!("[{}]", many(r#"{"a": 1}"#)));
    let same = many(r##"{"$ref": "#/$defs/numbers"}"##);
    let defined = format!(r#"{{"numbers": {{"const": {numbers}}}}}"#);
    let constant = format!(r#"{{"allOf": [{same}], "$defs": {defined}}}"#);
    assert_too_costly(&constant, &numbers);
}

#[test]
fn a_value_of_the_largest_size_is_checked() {
    let schema = r#"{"items": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}"#;
    let numbers = vec!["1"; 500_000].join(",");
    assert_eq!(fits(schema, &format!("[{numbers}]")), Ok(()));
}

#[test]
fn unique_items_are_each_read_once() {
    let distinct = r#"{"uniqueItems": true}"#;
    assert_eq!(fits(distinct, r#"[1, "1", [1], {"a": 1}]"#), Ok(()));
    let twice = "item 2 of the value is repeated";
    assert_eq!(fits(distinct, "[1, 2, 1.0]"), Err(twice.to_owned()));
    let numbers: Vec<u32> = (0..100_000).collect();
    assert_eq!(fits(distinct, &format!("{numbers:?}")), Ok(()));
}

#[test]
fn an_undecided_check_is_not_a_mismatch() {
    let endless = r##"{"not": {"$ref": "#/$defs/a"}, "$defs": {"a": {"$ref": "#/$defs/a"}}}"##;
    assert!(fits(endless, "1").is_err());
}

#[test]
fn messages_are_short_and_built_only_when_needed() {
    let name = "n".repeat(500_000);
    let either = r#"{"anyOf": [{"type": "string"}, {"type": "number"}]}"#;
    let schema = format!(r#"{{"additionalProperties": {{"items": {either}}}}}"#);
    let numbers = vec!["1"; 200_000].join(",");
    let long_name = |items: &str| format!(r#"{{"{name}": [{items}]}}"#);
    assert_eq!(fits(&schema, &long_name(&numbers)), Ok(()));
    assert!(fits(&schema, &long_name("null")).unwrap_err().len() < 1_000);
    let allowed: Vec<u32> = (0..1_000).collect();
    let enumerated = format!(r#"{{"enum": {allowed:?}}}"#);
    assert!(fits(&enumerated, "-1").unwrap_err().len() < 1_000);
}
