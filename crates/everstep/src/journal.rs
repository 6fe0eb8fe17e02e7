//! Journals: records, their numbers and locations, JSON lines, and live notifications.

pub use everstep_engine::{Emission, Emissions, FailureEvent};
pub use everstep_model::{
    Actor, Body, Entry, Generation, Location, Record, RecordNumber, Timestamp, entry_from_json,
    entry_to_json, record,
};

pub use crate::client::Records;
