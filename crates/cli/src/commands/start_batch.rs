//! `everstep start --batch`: starts one run for each line of a file.

use std::io::Read;
use std::path::Path;

use anyhow::Context as _;
use everstep_model::Payload;
use everstep_protocol::workflow::{
    BatchStart, STARTS_MAX, StartBatch, StartBatchAnswer, StartRequest,
};
use serde::Deserialize;

use crate::context::Context;
use crate::exit::Exit;
use crate::output::Colour;
use crate::usage_error::UsageError;

/// A line of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    id: Option<String>,
    #[serde(default = "Payload::null")]
    input: Payload,
}

/// Starts the runs of a file, each with the fields of `template` that its line does not set.
pub(super) async fn run(
    file: &Path,
    template: &StartRequest,
    context: &Context,
) -> anyhow::Result<Exit> {
    let mut outcomes = Vec::new();
    let requests = requests(&read(file)?, template)?;
    for runs in requests.chunks(STARTS_MAX) {
        let runs = runs.to_vec();
        let batch = StartBatch { runs };
        let answer: StartBatchAnswer = context.server.post("batch", &batch).await?;
        outcomes.extend(answer.runs);
    }
    let refused = outcomes
        .iter()
        .filter(|outcome| outcome.started.is_none())
        .count();
    if context.out.is_json {
        context.out.json(&StartBatchAnswer { runs: outcomes })?;
    } else {
        for (outcome, request) in outcomes.iter().zip(&requests) {
            print(context, outcome, request)?;
        }
    }
    Ok(match refused {
        0 => Exit::Success,
        _ => Exit::Refused,
    })
}

fn read(file: &Path) -> anyhow::Result<String> {
    if file.as_os_str() == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        return Ok(text);
    }
    std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))
}

fn requests(text: &str, template: &StartRequest) -> Result<Vec<StartRequest>, UsageError> {
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    let requests = lines.map(|(index, line)| {
        let parsed = serde_json::from_str(line);
        let Line { id, input } = parsed.map_err(|error| {
            UsageError::new(
                format!("line {} of the batch: {error}", index + 1),
                "Each line is a JSON object such as {\"id\":\"order-7\",\"input\":{\"amount\":5}}.",
            )
        })?;
        let mut request = template.clone();
        request.id = id;
        request.input = input;
        Ok(request)
    });
    requests.collect()
}

fn print(context: &Context, outcome: &BatchStart, request: &StartRequest) -> anyhow::Result<()> {
    let paint = |id: &str| context.out.paint.paint(Colour::Strong, id).to_string();
    let text = match (&outcome.started, &outcome.problem) {
        (Some(run), _) if run.created => format!("{} started", paint(run.id.as_str())),
        (Some(run), _) => {
            let id = paint(run.id.as_str());
            format!("{id} already exists and is {}", run.status)
        }
        (None, problem) => {
            let id = request.id.as_deref().unwrap_or("a run");
            let reason = problem
                .as_ref()
                .map_or("", |problem| problem.detail.as_str());
            format!("{} not started: {reason}", paint(id))
        }
    };
    Ok(context.out.line(&text)?)
}
