//! JSON on the command line: given there, or read from a file or from stdin.

use std::io::Read;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use everstep_model::Payload;

use crate::ending::UsageError;

/// A piece of JSON.
#[derive(Args, Debug)]
pub(crate) struct Json {
    /// The JSON; `null` if nothing is given.
    #[arg(value_name = "JSON")]
    payload: Option<String>,
    /// Read the JSON from a file, or from stdin if it is `-`.
    #[arg(long, value_name = "FILE", conflicts_with = "payload")]
    file: Option<PathBuf>,
}

impl Json {
    pub(crate) fn read(&self) -> anyhow::Result<Payload> {
        let text = match (&self.payload, &self.file) {
            (Some(text), _) => text.clone(),
            (None, Some(path)) if path.as_os_str() == "-" => {
                let mut text = String::new();
                std::io::stdin().read_to_string(&mut text)?;
                text
            }
            (None, Some(path)) => std::fs::read_to_string(path)
                .with_context(|| format!("cannot read {}", path.display()))?,
            (None, None) => return Ok(Payload::null()),
        };
        Ok(parse(&text)?)
    }
}

/// JSON that somebody typed.
pub(crate) fn parse(text: &str) -> Result<Payload, UsageError> {
    Payload::from_json(text.trim().to_owned()).map_err(|error| UsageError {
        what: format!("this is not JSON: {error}"),
        remedy: "Texts need quotes of their own, and the shell takes one pair away: \
                 '{\"name\":\"Ada\"}', or '\"Ada\"' for a text alone."
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_quotes_is_refused_with_how_to_write_it() {
        assert_eq!(parse(" {\"a\":1}\n").unwrap().as_str(), "{\"a\":1}");
        let error = parse("Ada").unwrap_err();
        assert!(error.remedy.contains("'\"Ada\"'"), "{}", error.remedy);
    }
}
