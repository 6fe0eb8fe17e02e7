//! The pages of `docs/errors/`, compiled into the binary so that they match its version.

use everstep::ErrorCode;

/// Codes and their pages. `build.rs` generates the table.
const PAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/error_pages.rs"));

/// Returns the page of a code. A test checks that every code has one.
pub(crate) fn page(code: ErrorCode) -> Option<&'static str> {
    let row = PAGES.iter().find(|(word, _)| *word == code.as_str())?;
    Some(row.1)
}

/// Returns the first sentence of a code's page.
pub(crate) fn summary(code: ErrorCode) -> Option<&'static str> {
    let mut lines = page(code)?.lines().map(str::trim);
    lines.find(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Returns the section "What to do" of a code's page.
pub(crate) fn remedy(code: ErrorCode) -> Option<&'static str> {
    let (_, below) = page(code)?.split_once("## What to do")?;
    let section = below.split("\n## ").next()?;
    Some(section.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_page_with_a_summary_and_a_remedy() {
        for &code in ErrorCode::ALL {
            let page = page(code).unwrap_or_else(|| panic!("{code} has no page"));
            assert_eq!(page.lines().next(), Some(format!("# {code}").as_str()));
            assert!(summary(code).is_some_and(|line| line.len() > 10), "{code}");
            assert!(remedy(code).is_some_and(|text| text.len() > 10), "{code}");
        }
    }
}
