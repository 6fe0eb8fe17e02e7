//! Whether a caller has what a route needs. Everything that depends on the address is decided here; what depends on the body
//! is asked of the [`Caller`] by the handler that reads it.

use axum::http::Method;
use everstep_engine::{Engine, EngineError};
use everstep_model::{Body, Generation, RpcId, RunId, StreamName};
use everstep_protocol::access::{Scope, View};
use percent_encoding::percent_decode_str;

use super::caller::{Caller, RunGrant};
use super::needs::RunAct;
use super::refusal::Refusal;

/// What a request needs, once its address is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Demand {
    /// Nothing; nobody is identified.
    Nothing,
    /// All of these scopes.
    Scopes(Vec<Scope>),
    /// To read or write the journal of a run, in a generation.
    Journal {
        run: RunId,
        generation: Generation,
        scope: Scope,
    },
}

/// What a request about a stream needs, by its method, its path behind `/v1/stream/` as it was written, and whether it
/// names another stream to fork.
pub(super) fn of_stream(method: &Method, raw: &str, forks: bool) -> Demand {
    // What cannot be read is refused by the handler as well; until then it needs the most.
    let most = Demand::Scopes(vec![Scope::Admin]);
    if let Some(rest) = raw.strip_prefix("__ds/") {
        return of_subscription(method, rest).unwrap_or(most);
    }
    let Ok(path) = percent_decode_str(raw).decode_utf8() else {
        return most;
    };
    let writes = !matches!(*method, Method::GET | Method::HEAD);
    if path == "workflows" || path.starts_with("workflows/") {
        let scope = match *method {
            Method::GET | Method::HEAD => Scope::Read,
            Method::POST => Scope::Send,
            _ => Scope::Operate,
        };
        return match StreamName::from_stored(&path).run() {
            Some((run, generation)) => Demand::Journal {
                run,
                generation,
                scope,
            },
            None => Demand::Scopes(vec![scope]),
        };
    }
    Demand::Scopes(match (method, writes, forks) {
        (&Method::DELETE, ..) => vec![Scope::Operate],
        // A fork shows what its source holds.
        (_, true, true) => vec![Scope::Send, Scope::Read],
        (_, true, false) => vec![Scope::Send],
        (_, false, _) => vec![Scope::Read],
    })
}

fn of_subscription(method: &Method, rest: &str) -> Option<Demand> {
    let segments: Vec<&str> = rest.split('/').collect();
    Some(match (method, segments.as_slice()) {
        // Public by its nature.
        (&Method::GET, ["jwks.json"]) => Demand::Nothing,
        // These carry the token of a wake, which their handler checks.
        (&Method::POST, ["subscriptions", _, "callback" | "ack" | "release"]) => Demand::Nothing,
        (&Method::GET, ["subscriptions", _]) => Demand::Scopes(vec![Scope::Read]),
        (&Method::POST, ["subscriptions", _, "claim"]) => {
            Demand::Scopes(vec![Scope::Read, Scope::Send])
        }
        // Whoever subscribes hears of every source, and makes the server call out.
        (
            &Method::PUT | &Method::DELETE | &Method::POST,
            ["subscriptions", _] | ["subscriptions", _, "streams", ..],
        ) => Demand::Scopes(vec![Scope::Operate, Scope::Read]),
        _ => return None,
    })
}

/// Checks a demand that no lookup is needed for.
pub(super) fn check(caller: &Caller, demand: &Demand) -> Result<(), Refusal> {
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
            // Which records a token may append is decided record by record.
            match caller.has(*scope) || (fits && *scope != Scope::Operate) {
                true => Ok(()),
                false => Err(lacks(caller, *scope)),
            }
        }
    }
}

fn lacks(caller: &Caller, scope: Scope) -> Refusal {
    Refusal::forbidden(match caller.token() {
        Some(_) => "the run token does not allow this".to_owned(),
        None => format!("this needs a key with the scope `{scope}`"),
    })
}

/// What the address of a request about a run says.
pub(super) struct AboutRun<'a> {
    pub(super) id: &'a str,
    /// The event or the rpc.
    pub(super) what: &'a str,
}

/// Checks an act on a run: by scope, or by a token for the generation it has now.
pub(super) async fn check_run(
    engine: &Engine,
    caller: &Caller,
    act: RunAct,
    about: AboutRun<'_>,
) -> Result<(), Refusal> {
    if caller.has(act.scope()) {
        return Ok(());
    }
    let refused = || lacks(caller, act.scope());
    let token = caller.token().ok_or_else(refused)?;
    if token.run.as_str() != about.id {
        return Err(refused());
    }
    let allowed = match act {
        RunAct::Look => token.view == View::Full,
        RunAct::Send => token.events.contains(about.what),
        RunAct::Answer => {
            let method = method_of(engine, token, about.what).await?;
            method.is_some_and(|method| token.rpcs.contains(&method))
        }
    };
    match allowed && is_current(engine, token).await? {
        true => Ok(()),
        false => Err(refused()),
    }
}

/// Whether the run still lives the life that the token is for.
async fn is_current(engine: &Engine, token: &RunGrant) -> Result<bool, Refusal> {
    match engine.row(&token.run).await {
        Ok(row) => Ok(row.generation == token.generation),
        Err(EngineError::UnknownRun(_)) => Ok(false),
        Err(error) => Err(Refusal::Failed(error.into())),
    }
}

/// What an rpc asks for, also if it is open no more: whoever answers late is told so, not that they may not.
async fn method_of(
    engine: &Engine,
    token: &RunGrant,
    rpc: &str,
) -> Result<Option<String>, Refusal> {
    let rpc = RpcId(rpc.into());
    match engine.open_rpc(&token.run, &rpc).await {
        Ok(row) => return Ok(Some(row.method.to_string())),
        Err(EngineError::UnknownRun(_)) => return Ok(None),
        Err(EngineError::RpcNotOpen { .. }) => {}
        Err(error) => return Err(Refusal::Failed(error.into())),
    }
    let journal = engine.journal(&token.run).await;
    let journal = journal.map_err(|error| Refusal::Failed(error.into()))?;
    Ok(journal
        .into_iter()
        .find_map(|entry| match entry.record.body {
            Body::RpcRequested(asked) if asked.rpc_id == rpc => Some(asked.method.to_string()),
            _ => None,
        }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scopes(method: Method, raw: &str, forks: bool) -> Option<Vec<Scope>> {
        match of_stream(&method, raw, forks) {
            Demand::Scopes(scopes) => Some(scopes),
            Demand::Nothing | Demand::Journal { .. } => None,
        }
    }

    #[test]
    fn streams_need_what_their_method_does() {
        use Scope::{Admin, Operate, Read, Send};
        for (method, raw, forks, needed) in [
            (Method::GET, "a", false, vec![Read]),
            (Method::HEAD, "a", false, vec![Read]),
            (Method::PUT, "a", false, vec![Send]),
            (Method::PUT, "a", true, vec![Send, Read]),
            (Method::POST, "a", false, vec![Send]),
            (Method::DELETE, "a", false, vec![Operate]),
            (Method::GET, "%FF", false, vec![Admin]),
            (Method::GET, "__ds/signing-key", false, vec![Admin]),
            (
                Method::PUT,
                "__ds/subscriptions/s",
                false,
                vec![Operate, Read],
            ),
            (Method::GET, "__ds/subscriptions/s", false, vec![Read]),
            (Method::GET, "workflows", false, vec![Read]),
            (Method::GET, "workflows/a/b", false, vec![Read]),
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
    fn a_journal_is_recognised_however_its_address_is_written() {
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
