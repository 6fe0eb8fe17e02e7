//! `everstep start --batch`: starts one run for each line of a file.

use std::hash::{BuildHasher, RandomState};
use std::io::Read;
use std::path::Path;

use anyhow::Context as _;
use everstep_model::{ErrorCode, Payload};
use everstep_protocol::Problem;
use everstep_protocol::workflow::{
    BatchStart, STARTS_MAX, StartBatch, StartBatchAnswer, StartRequest,
};
use serde::Deserialize;

use super::unknown_workflow;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::{Colour, shell_word};
use crate::usage_error::UsageError;

/// The size of one request, below the default limit of servers (10 MiB).
const REQUEST_BYTES_MAX: usize = 8 * 1024 * 1024;

/// A line of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    id: Option<String>,
    #[serde(default = "Payload::null")]
    input: Payload,
}

/// The start of the run of one line.
struct LineStart {
    /// The number of the line, from 1.
    line: usize,
    request: StartRequest,
    /// The size of the request as JSON.
    bytes: usize,
}

/// Starts the runs of a file, each with the fields of `template` that its line does not set.
///
/// A line without an id gets an idempotency key, so that a request that is sent again starts
/// nothing twice.
pub(super) async fn run(
    file: &Path,
    mut template: StartRequest,
    context: &Context,
) -> anyhow::Result<Exit> {
    let key = template.idempotency_key.take().unwrap_or_else(random_key);
    let starts = starts(&read(file)?, &template, &key)?;
    let (mut exit, mut is_unknown) = (Exit::Success, false);
    let mut rest = starts.as_slice();
    while let Some(first) = rest.first() {
        let (part, later) = rest.split_at(part_len(rest));
        let batch = StartBatch {
            runs: part.iter().map(|start| start.request.clone()).collect(),
        };
        let answer = context.server.post("batch", &batch).await;
        let answer: StartBatchAnswer = answer.with_context(|| stopped(first.line, rest, &key))?;
        if answer.runs.iter().any(|outcome| outcome.started.is_none()) {
            exit = Exit::Refused;
        }
        is_unknown |= answer.runs.iter().any(lacks_workflow);
        print(context, answer, part)?;
        rest = later;
    }
    if is_unknown
        && let Some(suggestion) = unknown_workflow::suggestion(&template.workflow, context).await
    {
        context.out.notice(&suggestion);
    }
    Ok(exit)
}

fn lacks_workflow(outcome: &BatchStart) -> bool {
    let code = outcome.problem.as_ref().and_then(Problem::error_code);
    code == Some(ErrorCode::UnknownWorkflow)
}

/// Returns how many of these starts fit into one request, at least one.
fn part_len(starts: &[LineStart]) -> usize {
    let mut bytes = 0;
    let fitting = starts.iter().take_while(|start| {
        bytes += start.bytes + 1;
        bytes <= REQUEST_BYTES_MAX
    });
    fitting.take(STARTS_MAX).count().max(1)
}

/// Describes where a batch stopped, and how to repeat it if its lines lack ids.
fn stopped(line: usize, rest: &[LineStart], key: &str) -> String {
    let mut text = format!("the batch stopped at line {line}");
    if rest.iter().any(|start| start.request.id.is_none()) {
        let key = shell_word(key);
        text +=
            &format!("; repeat it with `--idempotency-key {key}`, so that no run is started twice");
    }
    text
}

/// Returns a key that no other batch has.
fn random_key() -> String {
    let state = RandomState::new();
    format!("batch-{:016x}{:016x}", state.hash_one(0), state.hash_one(1))
}

fn read(file: &Path) -> anyhow::Result<String> {
    if file.as_os_str() == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        return Ok(text);
    }
    std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))
}

fn starts(text: &str, template: &StartRequest, key: &str) -> Result<Vec<LineStart>, UsageError> {
    let lines = (1..).zip(text.lines());
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| start(number, line, template, key))
        .collect()
}

fn start(
    number: usize,
    line: &str,
    template: &StartRequest,
    key: &str,
) -> Result<LineStart, UsageError> {
    let parsed = serde_json::from_str(line);
    let Line { id, input } = parsed.map_err(|error| {
        UsageError::new(
            format!("line {number} of the batch: {error}"),
            "Each line is a JSON object such as {\"id\":\"order-7\",\"input\":{\"amount\":5}}.",
        )
    })?;
    let request = StartRequest {
        idempotency_key: id.is_none().then(|| format!("{key}:{number}")),
        id,
        input,
        ..template.clone()
    };
    let bytes = serde_json::to_string(&request).map_or(0, |text| text.len());
    Ok(LineStart {
        line: number,
        request,
        bytes,
    })
}

/// Prints the outcomes of one request.
fn print(context: &Context, answer: StartBatchAnswer, part: &[LineStart]) -> anyhow::Result<()> {
    if context.out.is_json {
        return context.out.json(&answer);
    }
    let outcomes = answer.runs.iter().zip(part);
    for (outcome, start) in outcomes {
        context.out.line(&as_text(context, outcome, start))?;
    }
    Ok(())
}

fn as_text(context: &Context, outcome: &BatchStart, start: &LineStart) -> String {
    let paint = |id: &str| context.out.paint.paint(Colour::Strong, id).to_string();
    match (&outcome.started, &outcome.problem) {
        (Some(run), _) if run.created => format!("{} started", paint(run.id.as_str())),
        (Some(run), _) => {
            let id = paint(run.id.as_str());
            format!("{id} already exists and is {}", run.status)
        }
        (None, problem) => {
            let id = match &start.request.id {
                Some(id) => id.clone(),
                None => format!("line {}", start.line),
            };
            let reason = problem
                .as_ref()
                .map_or("", |problem| problem.detail.as_str());
            format!("{} not started: {reason}", paint(&id))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts_of_bytes(bytes: &[usize]) -> Vec<LineStart> {
        let request = StartRequest::new("hello", Payload::null());
        let starts = bytes.iter().map(|&bytes| LineStart {
            line: 1,
            request: request.clone(),
            bytes,
        });
        starts.collect()
    }

    // B850
    #[test]
    fn a_request_has_as_many_starts_as_fit_and_at_least_one() {
        let mib = 1024 * 1024;
        for (bytes, expected) in [
            (vec![100; 3], 3),
            (vec![100; STARTS_MAX + 1], STARTS_MAX),
            (vec![mib; 12], 7),
            (vec![20 * mib, 100], 1),
        ] {
            assert_eq!(part_len(&starts_of_bytes(&bytes)), expected);
        }
    }

    // B850
    #[test]
    fn lines_without_an_id_have_the_key_of_the_batch_and_their_number() {
        let template = StartRequest::new("hello", Payload::null());
        let starts = starts("{\"id\":\"a\"}\n\n{}\n", &template, "k").unwrap();
        let keys: Vec<_> = starts
            .iter()
            .map(|start| start.request.idempotency_key.as_deref())
            .collect();
        assert_eq!(keys, [None, Some("k:3")]);
    }
}
