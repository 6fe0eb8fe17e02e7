//! `everstep explain`: prints the page of an error code, or lists all codes.

use clap::Args;
use everstep::ErrorCode;
use serde_json::json;

use crate::error_pages;
use crate::exit::Exit;
use crate::output::Output;
use crate::suggestion::similar;
use crate::usage_error::UsageError;

const EXAMPLES: &str = "\
Examples:
  everstep explain store_locked
  everstep explain                 list all codes
  everstep explain --json | jq -r .code";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Explain {
    /// Error code, as shown in brackets after an error message [default: list all codes]
    code: Option<String>,
}

pub(crate) fn run(arguments: &Explain, is_json: bool) -> anyhow::Result<Exit> {
    let out = Output::new(is_json);
    if let Some(word) = &arguments.code {
        let code = code_of(word)?;
        let page = error_pages::page(code).unwrap_or_default();
        return out.result(
            &json!({"code": code.as_str(), "page": page}),
            page.trim_end(),
        );
    }
    let widths = ErrorCode::ALL.iter().map(|code| code.as_str().len());
    let width = widths.max().unwrap_or(0);
    for &code in ErrorCode::ALL {
        let (code, summary) = (
            code.as_str(),
            error_pages::summary(code).unwrap_or_default(),
        );
        let text = format!("{code:width$}  {summary}");
        out.result(&json!({"code": code, "summary": summary}), &text)?;
    }
    Ok(Exit::Success)
}

fn code_of(word: &str) -> Result<ErrorCode, UsageError> {
    // Accept codes copied from an error message, with brackets.
    let plain = word
        .trim_matches(['[', ']', ' '])
        .to_lowercase()
        .replace('-', "_");
    ErrorCode::parse(&plain).ok_or_else(|| {
        let codes = ErrorCode::ALL.iter().map(|code| code.as_str());
        let meant = similar(&plain, codes).map(|code| format!("Did you mean `{code}`? "));
        UsageError::new(
            format!("unknown error code `{word}`"),
            format!(
                "{}`everstep explain` lists all codes.",
                meant.unwrap_or_default()
            ),
        )
    })
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
            assert_eq!(code_of(word).unwrap(), ErrorCode::StoreLocked, "{word}");
        }
    }

    // B550
    #[test]
    fn a_similar_code_is_suggested() {
        for typed in ["locked", "store_lock"] {
            let error = code_of(typed).unwrap_err();
            let expected = "Did you mean `store_locked`?";
            assert!(error.remedy.starts_with(expected), "{}", error.remedy);
        }
        assert!(!code_of("xyz").unwrap_err().remedy.contains("mean"));
    }
}
