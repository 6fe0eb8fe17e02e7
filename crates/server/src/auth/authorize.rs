//! Compares what a request requires with what its caller has.
//!
//! This covers everything that follows from the address. Handlers check what depends on the body
//! with the methods of [`Caller`].

use axum::http::Method;
use everstep_engine::{Engine, OpenRpcError, ReadError};
use everstep_model::{Body, Generation, RpcId, RunId, StreamName};
use everstep_protocol::access::{Scope, View};
use percent_encoding::percent_decode_str;

use super::caller::Caller;
use super::requirement::RunAction;
use super::run_token::RunToken;
use crate::failure::Failure;
use crate::stream_protocol::{RESERVED, is_journal};

/// What a request requires, derived from its route and address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Demand {
    /// Nothing. The caller is not identified.
    Nothing,
    /// All of these scopes.
    Scopes(&'static [Scope]),
    /// Access to the journal of one generation of a run.
    Journal {
        run: RunId,
        generation: Generation,
        scope: Scope,
    },
}

/// Returns what a request about a stream requires. `raw` is the undecoded path behind `/v1/stream/`;
/// `forks` says whether the request names a stream to fork.
pub(super) fn of_stream(method: &Method, raw: &str, forks: bool) -> Demand {
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
    Demand::Scopes(match *method {
        Method::GET | Method::HEAD => &[Scope::Read],
        Method::DELETE => &[Scope::Operate],
        // The creator of a fork can read the content of its source.
        _ if forks => &[Scope::Send, Scope::Read],
        _ => &[Scope::Send],
    })
}

fn of_subscription(method: &Method, rest: &str) -> Option<Demand> {
    let segments: Vec<&str> = rest.split('/').collect();
    Some(match (method, segments.as_slice()) {
        // Public keys.
        (&Method::GET, ["jwks.json"]) => Demand::Nothing,
        // The handler checks the wake token that these carry.
        (&Method::POST, ["subscriptions", _, "callback" | "ack" | "release"]) => Demand::Nothing,
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

/// Checks a demand without access to the store.
pub(super) fn check(caller: &Caller, demand: &Demand) -> Result<(), Failure> {
    match demand {
        Demand::Nothing => Ok(()),
        Demand::Scopes(scopes) => match scopes.iter().find(|scope| !caller.has(**scope)) {
            Some(missing) => Err(lacks(caller, *missing)),
            None => Ok(()),
        },
        Demand::Journal {
            run,
            generation,
            scope,
        } => {
            let fits = caller
                .token()
                .is_some_and(|token| token.is_for(run, *generation));
            // The handler decides for each record whether the token may append it.
            match caller.has(*scope) || (fits && *scope != Scope::Operate) {
                true => Ok(()),
                false => Err(lacks(caller, *scope)),
            }
        }
    }
}

fn lacks(caller: &Caller, scope: Scope) -> Failure {
    Failure::forbidden(match caller.token() {
        Some(_) => "the run token does not allow this".to_owned(),
        None => format!("this needs a key with the scope `{scope}`"),
    })
}

/// The run and the item that a request addresses.
pub(super) struct RunTarget<'a> {
    pub(super) id: &'a str,
    /// The name of an event, or the id of an rpc.
    pub(super) event_or_rpc: &'a str,
}

/// Checks an action on a run: by scope, or by a token for the current generation of the run.
pub(super) async fn check_run(
    engine: &Engine,
    caller: &Caller,
    action: RunAction,
    target: RunTarget<'_>,
) -> Result<(), Failure> {
    if caller.has(action.scope()) {
        return Ok(());
    }
    let refused = || lacks(caller, action.scope());
    let token = caller.token().ok_or_else(refused)?;
    if token.run.as_str() != target.id {
        return Err(refused());
    }
    let allowed = match action {
        RunAction::Read => token.view == View::Full,
        RunAction::Send => token.allows_event(target.event_or_rpc),
        RunAction::Answer => {
            let method = method_of(engine, token, target.event_or_rpc).await?;
            method.is_some_and(|method| token.allows_answer(&method))
        }
    };
    match allowed && is_current(engine, token).await? {
        true => Ok(()),
        false => Err(refused()),
    }
}

/// Returns whether the token is for the current generation of the run.
async fn is_current(engine: &Engine, token: &RunToken) -> Result<bool, Failure> {
    match engine.row(&token.run).await {
        Ok(row) => Ok(row.generation == token.generation),
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
    let journal = match engine.journal(&token.run).await {
        Ok(journal) => journal,
        Err(ReadError::UnknownRun(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let method = journal.iter().find_map(|entry| match &entry.record.body {
        Body::RpcRequested(request) if request.rpc_id == rpc => Some(request.method.to_string()),
        _ => None,
    });
    Ok(method)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scopes(method: Method, raw: &str, forks: bool) -> Option<&'static [Scope]> {
        match of_stream(&method, raw, forks) {
            Demand::Scopes(scopes) => Some(scopes),
            Demand::Nothing | Demand::Journal { .. } => None,
        }
    }

    #[test]
    fn the_method_determines_the_scope_of_a_stream() {
        use Scope::{Admin, Operate, Read, Send};
        for (method, raw, forks, needed) in [
            (Method::GET, "a", false, &[Read][..]),
            (Method::HEAD, "a", false, &[Read]),
            (Method::PUT, "a", false, &[Send]),
            (Method::PUT, "a", true, &[Send, Read]),
            (Method::POST, "a", false, &[Send]),
            (Method::DELETE, "a", false, &[Operate]),
            (Method::GET, "%FF", false, &[Admin]),
            (Method::GET, "__ds/signing-key", false, &[Admin]),
            (Method::PUT, "__ds/subscriptions/s", false, &[Operate, Read]),
            (Method::GET, "__ds/subscriptions/s", false, &[Read]),
            (Method::GET, "workflows", false, &[Read]),
            (Method::GET, "workflows/a/b", false, &[Read]),
        ] {
            assert_eq!(
                scopes(method.clone(), raw, forks),
                Some(needed),
                "{method} {raw}"
            );
        }
        assert_eq!(scopes(Method::GET, "__ds/jwks.json", false), None);
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
            assert_eq!(of_stream(&Method::GET, raw, false), expected, "{raw}");
        }
    }
}
