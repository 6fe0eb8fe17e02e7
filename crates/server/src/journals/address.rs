//! The address of a journal, and the view in which a caller reads it.

use axum::http::StatusCode;
use everstep_engine::streams::StreamError;
use everstep_model::{ErrorCode, Generation, RunId, StreamName};
use everstep_protocol::access::View;

use super::views::Audience;
use crate::auth::Caller;
use crate::failure::Failure;

/// The journal of one generation of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct JournalAddress {
    pub(super) run: RunId,
    pub(super) generation: Generation,
}

impl JournalAddress {
    /// Parses `workflows/{id}`, or `workflows/{id}@{n}` for generations after the first. Every
    /// journal has exactly one address.
    pub(super) fn parse(path: &str) -> Result<Self, Failure> {
        let found = StreamName::from_stored(path).run();
        let found = found.filter(|(run, generation)| {
            generation.0 > 0 && StreamName::of_run(run, *generation).as_str() == path
        });
        let (run, generation) = found.ok_or(StreamError::Missing)?;
        Ok(Self { run, generation })
    }

    /// Returns what the caller sees in the requested view, or in the one that it may have if none
    /// is requested.
    pub(super) fn audience(&self, caller: &Caller, query: &str) -> Result<Audience, Failure> {
        let view = self.view(caller, query)?;
        let token = caller.token().filter(|_| view == View::Client);
        Ok(Audience {
            view,
            methods: token.map(|token| token.rpcs.iter().cloned().collect()),
        })
    }

    fn view(&self, caller: &Caller, query: &str) -> Result<View, Failure> {
        let allowed = caller.view_of(&self.run, self.generation);
        let allowed =
            allowed.ok_or_else(|| Failure::forbidden("the caller may not read this journal"))?;
        let mut given = form_urlencoded::parse(query.as_bytes());
        let Some((_, word)) = given.find(|(name, _)| name == "view") else {
            return Ok(allowed);
        };
        let wanted: View = word
            .parse()
            .map_err(|error| Failure::bad_request(format!("{error}")))?;
        match allowed == View::Full || allowed == wanted {
            true => Ok(wanted),
            false => Err(Failure::forbidden("the run token is for another view")),
        }
    }
}

/// Rejects a request that only the engine may make.
pub(super) fn reserved(detail: &str) -> Failure {
    Failure::new(StatusCode::FORBIDDEN, ErrorCode::ReservedStream, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_journal_has_one_address() {
        let parsed = |path| JournalAddress::parse(path).ok();
        let address = |generation| {
            Some(JournalAddress {
                run: RunId::new("a").unwrap(),
                generation: Generation(generation),
            })
        };
        assert_eq!(parsed("workflows/a"), address(1));
        assert_eq!(parsed("workflows/a@2"), address(2));
        for path in [
            "workflows",
            "workflows/",
            "workflows/a@1",
            "workflows/a@0",
            "workflows/a@02",
            "workflows/a@+2",
            "workflows/a@2@2",
            "workflows/a/b",
            "workflows/..",
            "other/a",
        ] {
            assert_eq!(parsed(path), None, "{path}");
        }
    }
}
