//! `cargo xtask api`: runs a pinned redocly on the description of the API, which must have no
//! errors, and a pinned schemathesis against the API. No request may cause a server error or a
//! response that the description does not contain.

use std::time::Duration;

use crate::failure::Failure;
use crate::process::Invocation;
use crate::python;
use crate::scratch::Scratch;
use crate::served::Server;
use crate::stage::Verdict;
use crate::workspace;

const REDOCLY: &str = "@redocly/cli@2.77.0";
/// Turns generated values into bodies of journals.
const SERIALIZERS: &str = "conformance/schemathesis/serializers.py";
/// Checks of every response.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
     response_headers_conformance,response_schema_conformance";
/// Random requests per operation, besides those that test the limits of the description.
const EXAMPLES: &str = "25";
/// A fixed seed makes failures repeatable.
const SEED: &str = "1";
/// It takes half a minute on an idle machine.
const LIMIT: Duration = Duration::from_secs(600);

pub(crate) fn run() -> Result<(), Failure> {
    let scratch = Scratch::new("api")?;
    let schemathesis = python::install("schemathesis")?.join("schemathesis");
    Server::build()?;
    let server = Server::start(&["--memory"])?;
    let description = format!("{}/openapi.json", server.address);
    lint(&description)?;
    let program = schemathesis.display().to_string();
    let report = scratch.path("report");
    let arguments = [
        "run",
        &description,
        "--checks",
        CHECKS,
        "--max-examples",
        EXAMPLES,
        "--seed",
        SEED,
        "--generation-database",
        "none",
        "--continue-on-failure",
        // They fail on a busy machine.
        "--suppress-health-check",
        "all",
        "--warnings",
        "off",
        "--report-dir",
        &report,
    ];
    let serializers = workspace::root().join(SERIALIZERS);
    Invocation::new(&program, &arguments)
        .variable("SCHEMATHESIS_HOOKS", &serializers.display().to_string())
        .within(LIMIT)
        .run()
}

fn lint(description: &str) -> Result<(), Failure> {
    Invocation::new(
        "npx",
        &["--yes", REDOCLY, "lint", "--format", "summary", description],
    )
    .variable("REDOCLY_TELEMETRY", "off")
    .variable("REDOCLY_SUPPRESS_UPDATE_NOTICE", "true")
    .within(LIMIT)
    .run()
}

/// The stage `api`.
pub(crate) fn stage() -> Result<Verdict, Failure> {
    run()?;
    Ok(Verdict::Passed)
}
