//! `GET /workflows` lists runs by workflow, status, tag and time, newest first; `GET /types` lists
//! the workflows that can be started.

use axum::http::StatusCode;
use axum::response::Response;
use everstep_model::{InvalidName, Name, RunStatus, Timestamp, limits};
use everstep_protocol::workflow::{Filter, RunPage, RunSummary, TypePage, TypeView};
use everstep_store::{ListPage, ListQuery, RunRow};

use super::call::Call;
use crate::failure::Failure;
use crate::json::respond;
use crate::parameters::{Parameter, Parameters, parameters};
use crate::rfc3339;

/// The default size of a page.
const PAGE: usize = 100;

pub(crate) const PARAMETERS: &[Parameter] = parameters! {
    "type": Words, "Filter by workflow.";
    "status": Words, "Filter by status. Aliases such as `pending` or `errored` are allowed.";
    "tag": Text, "Filter by tag.";
    "createdFrom": Time, "Only runs created at or after this time.";
    "createdBefore": Time, "Only runs created before this time.";
    "limit": Count(1, limits::LIST_PAGE_MAX as u32), "The maximum number of runs on a page; 100 by default. A page may have fewer although it has a cursor.";
    "cursor": Text, "The cursor of the previous page.";
};

pub(crate) async fn runs(call: Call) -> Result<Response, Failure> {
    let parameters = call.parameters(PARAMETERS)?;
    let mut query = query(&filter(&parameters))?;
    query.limit = parameters.count("limit")?.unwrap_or(PAGE);
    let cursor = parameters.text("cursor").map(str::parse).transpose();
    query.cursor = cursor.map_err(|error| Failure::invalid(format!("{error}")))?;
    let page = match call.caller.limits().restrict(query) {
        Some(query) => call.engine().list(query).await?,
        None => ListPage::default(),
    };
    let runs = page.rows.into_iter().map(|row| summary(&call, row));
    let page = RunPage {
        runs: runs.collect(),
        cursor: page.next.map(|next| next.to_string()),
    };
    Ok(respond(StatusCode::OK, &page))
}

pub(crate) async fn workflows(call: Call) -> Result<Response, Failure> {
    let known = call.engine().workflows().await?.into_iter();
    let limits = call.caller.limits();
    let known = known.filter(|known| limits.reaches_workflow(known.workflow.as_str()));
    let types = known.map(|known| TypeView {
        workflow: known.workflow,
        newest: known.newest,
        offered: known.offered.map(|range| range.into_inner()),
        description: known.description.map(|described| (*described).clone()),
    });
    let types = types.collect();
    Ok(respond(StatusCode::OK, &TypePage { types }))
}

fn filter(parameters: &Parameters) -> Filter {
    let owned = |words: Vec<&str>| words.into_iter().map(str::to_owned).collect();
    let text = |name| parameters.text(name).map(str::to_owned);
    Filter {
        workflows: owned(parameters.words("type")),
        statuses: owned(parameters.words("status")),
        tag: text("tag"),
        created_from: text("createdFrom"),
        created_before: text("createdBefore"),
    }
}

/// Converts a filter to a query of the store.
pub(super) fn query(filter: &Filter) -> Result<ListQuery, Failure> {
    let workflows = filter.workflows.iter().map(Name::new);
    let workflows: Result<_, InvalidName> = workflows.collect();
    let statuses = filter.statuses.iter().map(|word| status(word));
    Ok(ListQuery {
        workflows: workflows?,
        statuses: statuses.collect::<Result<_, _>>()?,
        tag: filter.tag.clone(),
        created_from: timestamp("createdFrom", filter.created_from.as_deref())?,
        created_before: timestamp("createdBefore", filter.created_before.as_deref())?,
        ..ListQuery::default()
    })
}

fn status(word: &str) -> Result<RunStatus, Failure> {
    word.parse().map_err(|error| {
        let known = RunStatus::ALL.iter().map(|status| status.as_str());
        let known: Vec<_> = known.collect();
        Failure::invalid(format!("{error}; a run is {}", known.join(", ")))
    })
}

fn timestamp(name: &str, text: Option<&str>) -> Result<Option<Timestamp>, Failure> {
    let time = text.map(|text| {
        rfc3339::parse(text).ok_or_else(|| {
            Failure::invalid(format!("`{name}` is a time such as 2026-11-15T08:00:00Z"))
        })
    });
    time.transpose()
}

fn summary(call: &Call, row: RunRow) -> RunSummary {
    RunSummary {
        stream: call.stream(&row.id, row.generation),
        id: row.id,
        workflow: row.workflow,
        version: row.version,
        generation: row.generation.0,
        status: row.status,
        tags: row.tags,
        created_at: row.created_at,
        updated_at: row.updated_at,
    }
}
