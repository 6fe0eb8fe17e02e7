//! The schemas of enumerations from other crates.

use std::borrow::Cow;

use everstep_model::record::{ParentClose, TimerPurpose};
use everstep_model::{RunStatus, StepStatus, Verb};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// The status of a run.
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

/// The status of a step.
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

/// The purpose of a timer.
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

/// What happens to a child when its parent no longer waits for it.
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
