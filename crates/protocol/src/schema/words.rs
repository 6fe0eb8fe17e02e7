//! The schemas of fields that hold one of a few words.

use std::borrow::Cow;

use everstep_model::record::{ParentClose, TimerPurpose};
use everstep_model::{RunStatus, StepStatus, Verb};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// What a run is doing.
pub(crate) struct RunWord;

impl JsonSchema for RunWord {
    fn schema_name() -> Cow<'static, str> {
        "RunStatus".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words: Vec<_> = RunStatus::ALL.iter().map(|word| word.as_str()).collect();
        json_schema!({"type": "string", "enum": words})
    }
}

/// What a step is doing.
pub(crate) struct StepWord;

impl JsonSchema for StepWord {
    fn schema_name() -> Cow<'static, str> {
        "StepStatus".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words: Vec<_> = StepStatus::ALL.iter().map(|word| word.as_str()).collect();
        json_schema!({"type": "string", "enum": words})
    }
}

/// A verb that controls runs.
pub(crate) struct VerbWord;

impl JsonSchema for VerbWord {
    fn schema_name() -> Cow<'static, str> {
        "Verb".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words: Vec<_> = Verb::ALL.iter().map(|word| word.as_str()).collect();
        json_schema!({"type": "string", "enum": words})
    }
}

/// What a timer of a run is for.
pub(crate) struct PurposeWord;

impl JsonSchema for PurposeWord {
    fn schema_name() -> Cow<'static, str> {
        "TimerPurpose".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words = [
            TimerPurpose::Sleep,
            TimerPurpose::Wait,
            TimerPurpose::Rpc,
            TimerPurpose::Retry,
            TimerPurpose::ExecutionRetry,
            TimerPurpose::Deadline,
            TimerPurpose::Child,
            TimerPurpose::Undo,
        ];
        json_schema!({"type": "string", "enum": words})
    }
}

/// What becomes of a child that its parent no longer waits for.
pub(crate) struct CloseWord;

impl JsonSchema for CloseWord {
    fn schema_name() -> Cow<'static, str> {
        "ParentClose".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words = [
            ParentClose::Cancel,
            ParentClose::Terminate,
            ParentClose::Abandon,
        ];
        json_schema!({"type": "string", "enum": words})
    }
}
