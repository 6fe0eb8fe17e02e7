//! `everstep explain`: prints the page of an error code, or lists all codes.

use std::io::Write;

use clap::Args;
use everstep::ErrorCode;
use serde_json::json;

use crate::error_pages;
use crate::exit::Exit;
use crate::usage_error::UsageError;

#[derive(Args, Debug)]
pub(crate) struct Explain {
    /// Error code, as shown in brackets after an error message [default: list all codes]
    code: Option<String>,
}

pub(crate) fn run(arguments: &Explain, is_json: bool) -> anyhow::Result<Exit> {
    let text = match (arguments.code.as_deref(), is_json) {
        (Some(word), false) => page_of(code_of(word)?).to_owned(),
        (Some(word), true) => {
            let code = code_of(word)?;
            let page = page_of(code);
            format!("{}\n", json!({"code": code.as_str(), "page": page}))
        }
        (None, false) => list(),
        (None, true) => list_as_json(),
    };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(Exit::Success)
}

fn page_of(code: ErrorCode) -> &'static str {
    error_pages::page(code).unwrap_or_default()
}

fn code_of(word: &str) -> Result<ErrorCode, UsageError> {
    // Accept codes copied from an error message, with brackets.
    let plain = word
        .trim_matches(['[', ']', ' '])
        .to_lowercase()
        .replace('-', "_");
    ErrorCode::parse(&plain).ok_or_else(|| UsageError {
        what: format!("unknown error code `{word}`"),
        remedy: match similar(&plain) {
            Some(code) => format!("Did you mean `{code}`? `everstep explain` lists all codes."),
            None => "`everstep explain` lists all codes.".to_owned(),
        },
    })
}

/// Returns the code that shares most words with the input.
fn similar(typed: &str) -> Option<ErrorCode> {
    let shared = |code: &ErrorCode| {
        let words = code.as_str().split('_');
        words
            .filter(|word| typed.split('_').any(|other| other == *word))
            .count()
    };
    let best = ErrorCode::ALL.iter().copied().max_by_key(shared)?;
    (shared(&best) > 0).then_some(best)
}

fn list() -> String {
    let mut text = String::new();
    let width = ErrorCode::ALL
        .iter()
        .map(|code| code.as_str().len())
        .max()
        .unwrap_or(0);
    for &code in ErrorCode::ALL {
        let summary = error_pages::summary(code).unwrap_or_default();
        text.push_str(&format!("{:width$}  {summary}\n", code.as_str()));
    }
    text
}

/// One JSON object per line.
fn list_as_json() -> String {
    let lines = ErrorCode::ALL.iter().map(|&code| {
        let summary = error_pages::summary(code);
        format!("{}\n", json!({"code": code.as_str(), "summary": summary}))
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_found_with_brackets_and_in_any_case() {
        for word in [
            "store_locked",
            "[store_locked]",
            "STORE_LOCKED",
            "store-locked",
        ] {
            let page = page_of(code_of(word).unwrap());
            assert!(page.starts_with("# store_locked"), "{word}");
        }
    }

    #[test]
    fn a_similar_code_is_suggested() {
        let error = code_of("locked").unwrap_err();
        assert!(error.remedy.contains("store_locked"), "{}", error.remedy);
        assert!(!code_of("xyz").unwrap_err().remedy.contains("mean"));
    }
}
