//! Compares what a request requires with what its caller has.
//!
//! This covers everything that follows from the address. Handlers check what depends on the body
//! with the methods of [`Caller`] and [`Limits`](super::Limits).

use axum::http::{HeaderMap, Method};
use everstep_engine::streams::StreamError;
use everstep_engine::{Engine, OpenRpcError, ReadError};
use everstep_model::{Body, Generation, RpcId, RunId, StreamName};
use everstep_protocol::access::{Scope, StreamRight, View};
use percent_encoding::percent_decode_str;

use super::caller::Caller;
use super::requirement::RunAction;
use super::run_token::RunToken;
use crate::failure::Failure;
use crate::run_address;
use crate::stream_protocol::{CLOSED, FORKED_FROM, RESERVED, is_journal};

/// What a request requires, derived from its route and address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Demand {
    /// Nothing. The caller is not identified.
    Nothing,
    /// All of these scopes.
    Scopes(&'static [Scope]),
    /// All of these scopes without limits.
    Unlimited(&'static [Scope]),
    /// Access to a user's stream.
    Stream {
        path: String,
        scopes: &'static [Scope],
        /// What a stream token must allow. `None` if no token suffices.
        right: Option<StreamRight>,
    },
    /// Access to the journal of one generation of a run.
    Journal {
        run: RunId,
        generation: Generation,
        scope: Scope,
    },
}

/// Returns what a request about a stream requires. `raw` is the undecoded path behind
/// `/v1/stream/`.
pub(super) fn of_stream(method: &Method, raw: &str, headers: &HeaderMap) -> Demand {
    // The handler rejects malformed paths; until then they require the highest scope.
    let highest = Demand::Scopes(&[Scope::Admin]);
    if let Some(rest) = raw.strip_prefix(RESERVED) {
        return of_subscription(method, rest).unwrap_or(highest);
    }
    let Ok(path) = percent_decode_str(raw).decode_utf8() else {
        return highest;
    };
    if is_journal(&path) {
        let scopes: &[Scope; 1] = match *method {
            Method::GET | Method::HEAD => &[Scope::Read],
            Method::POST => &[Scope::Send],
            _ => &[Scope::Operate],
        };
        let [scope] = *scopes;
        return match StreamName::from_stored(&path).run() {
            Some((run, generation)) => Demand::Journal {
                run,
                generation,
                scope,
            },
            None => Demand::Scopes(scopes),
        };
    }
    let (scopes, right): (&'static [Scope], _) = match *method {
        Method::GET | Method::HEAD => (&[Scope::Read], Some(StreamRight::Read)),
        Method::DELETE => (&[Scope::Operate], None),
        // The creator of a fork can read the content of its source.
        _ if headers.contains_key(FORKED_FROM) => (&[Scope::Send, Scope::Read], None),
        // One reader of a shared stream must not end it for the others.
        Method::POST if !headers.contains_key(CLOSED) => {
            (&[Scope::Send], Some(StreamRight::Append))
        }
        _ => (&[Scope::Send], None),
    };
    Demand::Stream {
        path: path.into_owned(),
        scopes,
        right,
    }
}

fn of_subscription(method: &Method, rest: &str) -> Option<Demand> {
    let segments: Vec<&str> = rest.split('/').collect();
    Some(match (method, segments.as_slice()) {
        // Public keys.
        (&Method::GET, ["jwks.json"]) => Demand::Nothing,
        // The handler checks the wake token that these carry.
        (&Method::POST, ["subscriptions", _, "callback" | "ack" | "release"]) => Demand::Nothing,
        // Feeds contain the records of all runs.
        (&Method::GET | &Method::HEAD, ["feeds", _]) => Demand::Unlimited(&[Scope::Read]),
        (&Method::GET, ["subscriptions", _]) => Demand::Scopes(&[Scope::Read]),
        (&Method::POST, ["subscriptions", _, "claim"]) => {
            Demand::Scopes(&[Scope::Read, Scope::Send])
        }
        // A subscription reveals its source streams, and makes the server call webhooks.
        (
            &Method::PUT | &Method::DELETE | &Method::POST,
            ["subscriptions", _] | ["subscriptions", _, "streams", ..],
        ) => Demand::Scopes(&[Scope::Operate, Scope::Read]),
        _ => return None,
    })
}

/// Checks a demand.
pub(super) async fn check(
    engine: &Engine,
    caller: &Caller,
    demand: &Demand,
) -> Result<(), Failure> {
    match demand {
        Demand::Nothing => Ok(()),
        Demand::Scopes(scopes) => check_scopes(caller, scopes),
        Demand::Unlimited(scopes) => {
            check_scopes(caller, scopes)?;
            match caller.limits().is_empty() {
                true => Ok(()),
                false => Err(Failure::forbidden("this needs a key without limits")),
            }
        }
        Demand::Stream {
            path,
            scopes,
            right,
        } => {
            if right.is_some_and(|right| caller.has_stream_token(path, right)) {
                return Ok(());
            }
            check_scopes(caller, scopes)?;
            match caller.limits().reaches_stream(path) {
                true => Ok(()),
                false => Err(unreached("stream")),
            }
        }
        Demand::Journal {
            run,
            generation,
            scope,
        } => {
            let token = caller.token();
            // The handler decides for each record whether the token may append it.
            if token.is_some_and(|token| token.is_for(run, *generation)) && *scope != Scope::Operate
            {
                return Ok(());
            }
            check_scopes(caller, std::slice::from_ref(scope))?;
            check_reach(engine, caller, run.as_str()).await
        }
    }
}

fn check_scopes(caller: &Caller, scopes: &[Scope]) -> Result<(), Failure> {
    match scopes.iter().find(|scope| !caller.has(**scope)) {
        Some(missing) => Err(lacks(caller, *missing)),
        None => Ok(()),
    }
}

fn lacks(caller: &Caller, scope: Scope) -> Failure {
    Failure::forbidden(match caller.has_token() {
        true => "the token does not allow this".to_owned(),
        false => format!("this needs a key with the scope `{scope}`"),
    })
}

/// The error of a request about something beyond the limits of the caller.
pub(crate) fn unreached(what: &str) -> Failure {
    Failure::forbidden(format!("the key does not reach this {what}"))
}

/// Checks that a run is within the limits of the caller.
pub(crate) async fn check_reach(engine: &Engine, caller: &Caller, id: &str) -> Result<(), Failure> {
    let limits = caller.limits();
    if !limits.reaches_id(id) {
        return Err(unreached("run"));
    }
    if limits.workflows.is_empty() {
        return Ok(());
    }
    // A run that does not exist yet may belong to any workflow.
    let (run, _) = run_address::parse(id)?;
    let row = engine.row(&run).await?;
    match limits.reaches_workflow(row.workflow.as_str()) {
        true => Ok(()),
        false => Err(unreached("run")),
    }
}

/// Checks that the run of the caller's token was not deleted and its id used again.
pub(super) async fn check_token(engine: &Engine, caller: &Caller) -> Result<(), Failure> {
    let Some(token) = caller.token() else {
        return Ok(());
    };
    match engine.streams().journal(&token.run, token.generation).await {
        Ok(journal) if journal.info.number != token.stream => {
            Err(Failure::forbidden("the run of the token was deleted"))
        }
        // The checks of the request report a run that does not exist.
        Ok(_) | Err(StreamError::Missing) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The run and the item that a request addresses.
pub(super) struct RunTarget<'a> {
    pub(super) id: &'a str,
    /// The name of an event, or the id of an rpc.
    pub(super) event_or_rpc: &'a str,
}

/// Checks an action on a run: by scopes and limits, or by a token for the generation that the
/// request names, by default the current one.
pub(super) async fn check_run(
    engine: &Engine,
    caller: &Caller,
    action: RunAction,
    target: RunTarget<'_>,
) -> Result<(), Failure> {
    let Some(token) = caller.token() else {
        check_scopes(caller, action.scopes())?;
        return check_reach(engine, caller, target.id).await;
    };
    let (run, named) = run_address::parse(target.id)?;
    let is_allowed = token.run == run
        && match action {
            RunAction::Read => true,
            RunAction::ReadInFull => token.view == View::Full,
            RunAction::Send => token.allows_event(target.event_or_rpc),
            RunAction::Answer => {
                let method = method_of(engine, token, target.event_or_rpc).await?;
                method.is_some_and(|method| token.allows_answer(&method))
            }
            RunAction::ReadRecords | RunAction::Operate | RunAction::Fork => false,
        };
    let is_allowed = is_allowed
        && match named {
            Some(generation) => token.is_for(&run, generation),
            None => reaches_current(engine, token).await?,
        };
    match is_allowed {
        true => Ok(()),
        false => Err(Failure::forbidden("the token does not allow this")),
    }
}

/// Returns whether the token is good for the current generation of the run.
async fn reaches_current(engine: &Engine, token: &RunToken) -> Result<bool, Failure> {
    match engine.row(&token.run).await {
        Ok(row) => Ok(token.is_for(&row.id, row.generation)),
        Err(ReadError::UnknownRun(_)) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Returns the method of an rpc, even if it is no longer open, so that a late answer is reported as
/// late instead of forbidden.
async fn method_of(
    engine: &Engine,
    token: &RunToken,
    rpc: &str,
) -> Result<Option<String>, Failure> {
    let rpc = RpcId(rpc.into());
    match engine.open_rpc(&token.run, &rpc).await {
        Ok(row) => return Ok(Some(row.method.to_string())),
        Err(OpenRpcError::UnknownRun(_)) => return Ok(None),
        Err(OpenRpcError::NotOpen(_)) => {}
        Err(error) => return Err(error.into()),
    }
    let is_it = |body: &Body| matches!(body, Body::RpcRequested(it) if it.rpc_id == rpc);
    let found = match engine.find_record(&token.run, is_it).await {
        Ok(found) => found,
        Err(ReadError::UnknownRun(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    Ok(found.and_then(|entry| match entry.record.body {
        Body::RpcRequested(request) => Some(request.method.to_string()),
        _ => None,
    }))
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};

    use super::*;

    /// Returns the scopes and the right that a request requires.
    fn of(
        method: &Method,
        raw: &str,
        header: Option<HeaderName>,
    ) -> Option<(&'static [Scope], Option<StreamRight>)> {
        let mut headers = HeaderMap::new();
        if let Some(name) = header {
            headers.insert(name, HeaderValue::from_static("true"));
        }
        match of_stream(method, raw, &headers) {
            Demand::Scopes(scopes) => Some((scopes, None)),
            Demand::Stream { scopes, right, .. } => Some((scopes, right)),
            Demand::Nothing | Demand::Journal { .. } | Demand::Unlimited(_) => None,
        }
    }

    #[test]
    fn the_method_determines_the_scope_of_a_stream() {
        use Scope::{Admin, Operate, Read, Send};
        let (read, append) = (Some(StreamRight::Read), Some(StreamRight::Append));
        for (method, raw, header, scopes, right) in [
            (Method::GET, "a", None, &[Read][..], read),
            (Method::HEAD, "a", None, &[Read], read),
            (Method::PUT, "a", None, &[Send], None),
            (Method::PUT, "a", Some(FORKED_FROM), &[Send, Read], None),
            (Method::POST, "a", None, &[Send], append),
            (Method::POST, "a", Some(CLOSED), &[Send], None),
            (Method::DELETE, "a", None, &[Operate], None),
            (Method::GET, "%FF", None, &[Admin], None),
            (Method::GET, "__ds/signing-key", None, &[Admin], None),
            (
                Method::PUT,
                "__ds/subscriptions/s",
                None,
                &[Operate, Read],
                None,
            ),
            (Method::GET, "__ds/subscriptions/s", None, &[Read], None),
            (Method::GET, "workflows", None, &[Read], None),
            (Method::GET, "workflows/a/b", None, &[Read], None),
        ] {
            let needed = of(&method, raw, header);
            assert_eq!(needed, Some((scopes, right)), "{method} {raw}");
        }
        assert_eq!(of(&Method::GET, "__ds/jwks.json", None), None);
    }

    #[test]
    fn a_path_is_decoded_before_it_is_compared_with_limits() {
        let demand = of_stream(&Method::GET, "acme%2Fa", &HeaderMap::new());
        let decoded = |path| matches!(demand, Demand::Stream { path: ref it, .. } if it == path);
        assert!(decoded("acme/a"));
    }

    #[test]
    fn a_journal_is_recognised_in_any_percent_encoding() {
        let expected = Demand::Journal {
            run: RunId::new("order-7").unwrap(),
            generation: Generation(2),
            scope: Scope::Read,
        };
        for raw in [
            "workflows/order-7@2",
            "workflows%2Forder-7@2",
            "%77orkflows/order%2D7%402",
        ] {
            let demand = of_stream(&Method::GET, raw, &HeaderMap::new());
            assert_eq!(demand, expected, "{raw}");
        }
    }
}
