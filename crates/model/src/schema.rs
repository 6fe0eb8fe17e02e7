//! JSON schemas of the types in messages, for the description of the HTTP API.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::record::{FailureOutcome, ForkReason, ParentClose, TimerPurpose};
use crate::{
    Generation, Location, Name, Payload, RecordNumber, RpcId, RunId, RunStatus, StepStatus,
    Timestamp, TraceParent, Verb,
};

/// Implements `JsonSchema` with schemas that are repeated where they are used.
macro_rules! inline_schemas {
    ($($kind:ident = $schema:expr;)*) => {$(
        impl JsonSchema for $kind {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($kind).into()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                $schema(generator)
            }
        }
    )*};
}

inline_schemas! {
    Generation = u32::json_schema;
    RecordNumber = u64::json_schema;
    Location = String::json_schema;
    Name = String::json_schema;
    RpcId = String::json_schema;
    TraceParent = String::json_schema;
    RunId = String::json_schema;
    Payload = |_| json_schema!({"description": "any JSON value"});
    Timestamp = |_| json_schema!({"type": "string", "format": "date-time"});
}

/// Implements `JsonSchema` for enums by listing their words.
macro_rules! enum_schemas {
    ($($kind:ident = $words:expr;)*) => {$(
        impl JsonSchema for $kind {
            fn schema_name() -> Cow<'static, str> {
                stringify!($kind).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({"type": "string", "enum": $words})
            }
        }
    )*};
}

enum_schemas! {
    RunStatus = RunStatus::ALL;
    StepStatus = StepStatus::ALL;
    Verb = Verb::ALL;
    FailureOutcome = [
        Self::Retrying, Self::Exhausted, Self::Fatal, Self::TimedOut, Self::RollBack, Self::Cancelled,
    ];
    ForkReason = [Self::Recover, Self::Restart, Self::RetryRollback, Self::Fork];
    ParentClose = [Self::Cancel, Self::Terminate, Self::Abandon];
    // Streams have timers of the purpose `Expiry`, and messages contain only timers of runs.
    TimerPurpose = [
        Self::Sleep, Self::Wait, Self::Rpc, Self::Retry, Self::ExecutionRetry, Self::Deadline, Self::Child, Self::Undo,
    ];
}
