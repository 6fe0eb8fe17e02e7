//! `GET /workflows`: runs by workflow, status, tag and time, newest first.

use axum::http::StatusCode;
use axum::response::Response;
use everstep_engine::EngineError;
use everstep_model::{Name, RunStatus, Timestamp, limits};
use everstep_protocol::workflow::{Filter, RunPage, RunSummary};
use everstep_store::{ListQuery, RunRow};

use super::call::{Call, answer};
use super::parameters::{Kind, Parameter, Parameters};
use crate::failure::Failure;
use crate::streams::time_header::time;

/// Runs on a page, unless the request says otherwise.
const PAGE: usize = 100;

const LIMIT: Parameter = Parameter {
    name: "limit",
    about: "How many runs a page has at most; 100 if nothing is said.",
    kind: Kind::Count(1, limits::LIST_PAGE_MAX as u32),
};

pub(crate) const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "type",
        about: "Only runs of these workflows.",
        kind: Kind::Words,
    },
    Parameter {
        name: "status",
        about: "Only runs that are doing this; aliases such as `pending` or `errored` are understood.",
        kind: Kind::Words,
    },
    Parameter {
        name: "tag",
        about: "Only runs with this tag.",
        kind: Kind::Text,
    },
    Parameter {
        name: "createdFrom",
        about: "Only runs created at or after this time.",
        kind: Kind::Time,
    },
    Parameter {
        name: "createdBefore",
        about: "Only runs created before this time.",
        kind: Kind::Time,
    },
    LIMIT,
    Parameter {
        name: "cursor",
        about: "Where the last page ended.",
        kind: Kind::Text,
    },
];

pub(crate) async fn list(call: Call) -> Result<Response, Failure> {
    let parameters = call.parameters(PARAMETERS)?;
    let mut query = query(&filter(&parameters))?;
    query.limit = parameters.count(&LIMIT)?.unwrap_or(PAGE);
    let cursor = parameters.text("cursor").map(str::parse).transpose();
    query.cursor = cursor.map_err(|error| Failure::invalid(format!("{error}")))?;
    let page = call.engine().list(query).await?;
    let runs = page.rows.into_iter().map(|row| summary(&call, row));
    answer(
        StatusCode::OK,
        &RunPage {
            runs: runs.collect(),
            cursor: page.next.map(|next| next.to_string()),
        },
    )
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

/// The same filter as the store understands it.
pub(super) fn query(filter: &Filter) -> Result<ListQuery, Failure> {
    let workflows = filter.workflows.iter().map(Name::new);
    let workflows: Result<_, _> = workflows.collect();
    let statuses = filter.statuses.iter().map(|word| status(word));
    Ok(ListQuery {
        workflows: workflows.map_err(EngineError::from)?,
        statuses: statuses.collect::<Result<_, _>>()?,
        tag: filter.tag.clone(),
        created_from: moment("createdFrom", filter.created_from.as_deref())?,
        created_before: moment("createdBefore", filter.created_before.as_deref())?,
        ..ListQuery::default()
    })
}

fn status(word: &str) -> Result<RunStatus, Failure> {
    word.parse().map_err(|error| {
        let known: Vec<_> = RunStatus::ALL
            .iter()
            .map(|status| status.as_str())
            .collect();
        Failure::invalid(format!("{error}; a run is {}", known.join(", ")))
    })
}

fn moment(name: &str, text: Option<&str>) -> Result<Option<Timestamp>, Failure> {
    let moment = text.map(|text| {
        time(text).ok_or_else(|| {
            Failure::invalid(format!("`{name}` is a time such as 2026-11-15T08:00:00Z"))
        })
    });
    moment.transpose()
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
