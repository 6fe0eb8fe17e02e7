//! The name under which journals record what a request does.

use axum::http::HeaderMap;
use everstep_model::limits;
use percent_encoding::percent_decode_str;

use crate::auth::Caller;

/// The header with the percent-encoded name of the actor.
const ACTOR: &str = "everstep-actor";

/// Returns the name of the caller, or the one in the header if the caller may name itself.
pub(crate) fn actor(caller: &Caller, headers: &HeaderMap) -> Option<String> {
    match caller.may_name_itself() {
        true => named(headers),
        false => caller.name().map(str::to_owned),
    }
}

fn named(headers: &HeaderMap) -> Option<String> {
    let encoded = headers.get(ACTOR)?.to_str().ok()?;
    let name = percent_decode_str(encoded).decode_utf8().ok()?;
    let fits = |name: &str| !name.is_empty() && name.chars().count() <= limits::NAME_CHARS_MAX;
    Some(name.into_owned()).filter(|name| fits(name) && !name.chars().any(char::is_control))
}
