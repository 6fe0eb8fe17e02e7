//! The description of a workflow that engines store and send: schemas and default deadlines.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Payload;

/// What the server knows about a workflow whose code runs in another process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Description {
    /// The JSON schema of the input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Payload>,
    /// The JSON schema of the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Payload>,
    /// The accepted events with their schemas, which may be none; absent if the workflow accepts
    /// any event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<BTreeMap<String, Described>>,
    /// The rpcs that the workflow makes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub rpcs: BTreeMap<String, DescribedRpc>,
    /// The default deadline of its runs, in milliseconds after their creation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<u64>,
}

/// The description of an rpc.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DescribedRpc {
    /// The JSON schema of the arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Payload>,
    /// The JSON schema of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Payload>,
}

/// The description of an event's payload.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Described {
    /// The JSON schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Payload>,
}

impl Description {
    /// Returns all schemas of the description.
    pub fn schemas(&self) -> impl Iterator<Item = &Payload> {
        let events = self.events.iter().flat_map(BTreeMap::values);
        let events = events.filter_map(|event| event.schema.as_ref());
        let rpcs = self.rpcs.values();
        let rpcs = rpcs.flat_map(|rpc| rpc.args.iter().chain(&rpc.schema));
        let own = self.input.iter().chain(&self.output);
        own.chain(events).chain(rpcs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_parts_are_omitted_and_the_rest_round_trips() {
        assert_eq!(
            serde_json::to_string(&Description::default()).unwrap(),
            "{}"
        );
        let schema = Payload::from_json(r#"{"type": "number"}"#).unwrap();
        let described = Described {
            schema: Some(schema.clone()),
        };
        let description = Description {
            input: Some(schema),
            events: Some(BTreeMap::from([("paid".to_owned(), described)])),
            deadline: Some(1_000),
            ..Description::default()
        };
        let text = serde_json::to_string(&description).unwrap();
        assert_eq!(
            text,
            r#"{"input":{"type": "number"},"events":{"paid":{"schema":{"type": "number"}}},"deadline":1000}"#
        );
        let back: Description = serde_json::from_str(&text).unwrap();
        assert_eq!(back, description);
    }
}
