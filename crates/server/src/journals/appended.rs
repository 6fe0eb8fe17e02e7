//! Parsing of the two kinds of records that a client may append to a journal.

use everstep_model::{Payload, RpcId};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::address::reserved;
use crate::failure::Failure;
use crate::json::{DEPTH_MAX, check_depth};

#[derive(Debug, PartialEq)]
pub(super) enum Appended {
    Event(AppendedEvent),
    Answer(AppendedAnswer),
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct AppendedEvent {
    pub(super) name: String,
    #[serde(default = "Payload::null")]
    pub(super) payload: Payload,
    pub(super) dedup_id: Option<String>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct AppendedAnswer {
    pub(super) rpc_id: RpcId,
    pub(super) answer: Payload,
    pub(super) dedup_id: Option<String>,
}

/// The envelope of the State Protocol. Other fields are set by the server, and ignored here.
#[derive(Deserialize)]
struct Envelope {
    #[serde(rename = "type")]
    kind: String,
    value: Payload,
    #[serde(default)]
    headers: Headers,
}

#[derive(Default, Deserialize)]
struct Headers {
    txid: Option<String>,
}

/// Parses a body: one record, or an array of records.
pub(super) fn parse(body: &[u8]) -> Result<Vec<Appended>, Failure> {
    check_depth(body, DEPTH_MAX)?;
    let is_array = body.trim_ascii_start().first() == Some(&b'[');
    let envelopes: Vec<Envelope> = match is_array {
        true => serde_json::from_slice(body).map_err(unreadable)?,
        false => vec![serde_json::from_slice(body).map_err(unreadable)?],
    };
    if envelopes.is_empty() {
        return Err(Failure::bad_request("an append has at least one record"));
    }
    envelopes.into_iter().map(record).collect()
}

fn record(envelope: Envelope) -> Result<Appended, Failure> {
    let (kind, txid) = (envelope.kind.as_str(), envelope.headers.txid);
    match kind {
        "workflow:event" => {
            let mut event: AppendedEvent = fields(kind, &envelope.value)?;
            event.dedup_id = event.dedup_id.or(txid);
            Ok(Appended::Event(event))
        }
        "workflow:rpc_answered" => {
            let mut answer: AppendedAnswer = fields(kind, &envelope.value)?;
            answer.dedup_id = answer.dedup_id.or(txid);
            Ok(Appended::Answer(answer))
        }
        _ => Err(reserved(
            "clients append `workflow:event` and `workflow:rpc_answered` to a journal, and nothing else",
        )),
    }
}

fn fields<T: DeserializeOwned>(kind: &str, value: &Payload) -> Result<T, Failure> {
    serde_json::from_slice(value.as_bytes())
        .map_err(|error| Failure::bad_request(format!("the value of a `{kind}`: {error}")))
}

fn unreadable(error: serde_json::Error) -> Failure {
    Failure::bad_request(format!("the body is not a record of a journal: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_and_answers_are_parsed_and_other_records_rejected() {
        let event = r#"{"type":"workflow:event","value":{"name":"a","payload":{"x":1}}}"#;
        let answer = r#"{"type":"workflow:rpc_answered","key":"k","value":{"rpcId":"r","answer":null},
            "headers":{"operation":"insert","txid":"t"}}"#;
        assert_eq!(parse(event.as_bytes()).unwrap().len(), 1);
        let both = parse(format!(" [{event},{answer}]").as_bytes()).unwrap();
        let expected = Appended::Answer(AppendedAnswer {
            rpc_id: RpcId("r".into()),
            answer: Payload::null(),
            dedup_id: Some("t".to_owned()),
        });
        assert_eq!(both.get(1), Some(&expected));
        for body in [
            "[]",
            "1",
            "{}",
            r#"{"type":"workflow:terminated","value":{}}"#,
            r#"{"type":"workflow:event","value":{}}"#,
            r#"{"type":"workflow:event","value":{"name":"a","nme":1}}"#,
        ] {
            assert!(parse(body.as_bytes()).is_err(), "{body}");
        }
    }
}
