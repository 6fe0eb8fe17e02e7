//! JSON given on the command line, in a file or on stdin.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use everstep_model::Payload;

use crate::usage_error::UsageError;

#[derive(Args, Debug)]
pub(crate) struct JsonArgument {
    /// JSON value [default: null]
    #[arg(value_name = "JSON")]
    payload: Option<String>,
    /// Read the JSON value from this file, or from stdin if it is `-`
    #[arg(long, value_name = "FILE", conflicts_with = "payload")]
    file: Option<PathBuf>,
}

impl JsonArgument {
    pub(crate) fn read(&self) -> anyhow::Result<Payload> {
        read(self.payload.as_deref(), self.file.as_deref())
    }
}

/// The same without a default.
#[derive(Args, Debug)]
#[group(required = true)]
pub(crate) struct RequiredJson {
    /// JSON value
    #[arg(value_name = "JSON")]
    payload: Option<String>,
    /// Read the JSON value from this file, or from stdin if it is `-`
    #[arg(long, value_name = "FILE", conflicts_with = "payload")]
    file: Option<PathBuf>,
}

impl RequiredJson {
    pub(crate) fn read(&self) -> anyhow::Result<Payload> {
        read(self.payload.as_deref(), self.file.as_deref())
    }
}

fn read(payload: Option<&str>, file: Option<&Path>) -> anyhow::Result<Payload> {
    let text = match (payload, file) {
        (Some(text), _) => text.to_owned(),
        (None, Some(path)) if path.as_os_str() == "-" => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text)?;
            text
        }
        (None, Some(path)) => std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {}", path.display()))?,
        (None, None) => return Ok(Payload::null()),
    };
    Ok(parse_json(&text)?)
}

pub(crate) fn parse_json(text: &str) -> Result<Payload, UsageError> {
    Payload::from_json(text.trim().to_owned()).map_err(|error| {
        UsageError::new(
            format!("invalid JSON: {error}"),
            "Strings need double quotes, and the shell removes one pair of quotes: \
             '{\"name\":\"Ada\"}', or '\"Ada\"' for a single string.",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unquoted_string_is_rejected_with_an_example() {
        assert_eq!(parse_json(" {\"a\":1}\n").unwrap().as_str(), "{\"a\":1}");
        let error = parse_json("Ada").unwrap_err();
        assert!(error.remedy.contains("'\"Ada\"'"), "{}", error.remedy);
    }
}
