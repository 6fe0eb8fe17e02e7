//! Tests of the agent with a person who approves, rejects, does not answer, or stops it.

use everstep::testing::{TestEngine, TestEngineBuilder, virtual_time};
use everstep::{ErrorCode, Handle, Payload, RunStatus, Workflows, hours, secs};
use serde_json::json;

use super::*;
use crate::conversation::MEMORY;

const TASK: &str = "Go to Lisbon";

fn engine(model: Model, tools: &Tools) -> TestEngineBuilder {
    TestEngine::builder().workflows(Workflows::new().workflow(Agent {
        model,
        tools: tools.clone(),
        budget: 200,
        patience: hours(1),
    }))
}

fn travel_agent(tools: &Tools) -> TestEngineBuilder {
    engine(Model::travel_agent(secs(1)), tools)
}

/// A model that always calls a tool.
fn stubborn(tool: &str, times: usize) -> Model {
    let call = ToolCall {
        tool: tool.into(),
        arguments: json!({"flight": "TP 533"}),
    };
    Model {
        script: vec![call; times],
        latency: Duration::ZERO,
    }
}

async fn start(test: &TestEngine) -> Handle<Agent> {
    let task = TASK.to_owned();
    test.start::<Agent>(&task).id("agent-1").await.unwrap()
}

async fn decide(test: &TestEngine, run: &Handle<Agent>, verdict: Verdict, note: &str) {
    let note = note.to_owned();
    test.answer_next::<ApproveTool>(run, &Decision { verdict, note })
        .await;
}

async fn approve(test: &TestEngine, run: &Handle<Agent>) {
    decide(test, run, Verdict::Approve, "").await;
}

fn stop() -> Stop {
    Stop {
        reason: "never mind".into(),
    }
}

#[test]
fn approved_tools_are_used_once_and_their_results_reach_the_model() {
    virtual_time(async {
        let tools = Tools::default();
        let test = travel_agent(&tools).development().evict_all().start().await;
        let run = start(&test).await;
        approve(&test, &run).await;
        approve(&test, &run).await;
        decide(&test, &run, Verdict::Reject, "nobody cares").await;
        let answer = "Go to Lisbon: TP 533 leaves at nine; booked \"TP 533\"; send_mail rejected: nobody cares";
        assert_eq!(run.wait().await.unwrap(), Outcome::Answered(answer.into()));
        assert_eq!((tools.uses("book_flight"), tools.uses("send_mail")), (1, 0));
    });
}

#[test]
fn the_question_contains_the_tool_call() {
    virtual_time(async {
        let test = travel_agent(&Tools::default()).start().await;
        let run = start(&test).await;
        test.reach(&run, RunStatus::Waiting).await;
        let open = run.inspect().await.unwrap().overview.rpcs;
        assert_eq!(open[0].method.as_str(), "approveTool");
        let arguments = r#"{"tool":"search_flights","arguments":{"to":"Lisbon"}}"#;
        assert_eq!(open[0].args.as_str(), arguments);

        let error = run
            .answer_json(&open[0].rpc_id, Payload::from_value("yes").unwrap())
            .await
            .unwrap_err();
        assert_eq!(error.code(), ErrorCode::SchemaMismatch);
        let still_open = run.inspect().await.unwrap().overview.rpcs;
        assert_eq!(still_open, open);
    });
}

#[test]
fn no_answer_in_time_is_a_rejection() {
    virtual_time(async {
        let tools = Tools::default();
        let test = engine(stubborn("book_flight", 1), &tools).start().await;
        let run = start(&test).await;
        let answer = "Go to Lisbon: book_flight rejected: nobody answered in time";
        assert_eq!(run.wait().await.unwrap(), Outcome::Answered(answer.into()));
        assert_eq!(tools.uses("book_flight"), 0);
    });
}

#[test]
fn a_stop_ends_it_while_it_waits_and_takes_the_question_back() {
    virtual_time(async {
        let tools = Tools::default();
        let test = travel_agent(&tools).development().start().await;
        let run = start(&test).await;
        approve(&test, &run).await;
        test.advance(secs(5)).await;
        let open = run.inspect().await.unwrap().overview.rpcs;
        run.send(&stop()).await.unwrap();
        let stopped = Outcome::Stopped("never mind".into());
        assert_eq!(run.wait().await.unwrap(), stopped);
        let late = Payload::from_value(&json!({"verdict": "approve"})).unwrap();
        run.answer_json(&open[0].rpc_id, late).await.unwrap_err();
        assert_eq!(tools.uses("book_flight"), 0);
    });
}

#[test]
fn a_stop_that_comes_while_a_tool_is_at_work_lets_it_finish_and_then_ends() {
    virtual_time(async {
        let tools = Tools::slow(secs(10));
        let test = travel_agent(&tools).start().await;
        let run = start(&test).await;
        approve(&test, &run).await;
        run.send(&stop()).await.unwrap();
        let stopped = Outcome::Stopped("never mind".into());
        assert_eq!(run.wait().await.unwrap(), stopped);
        assert_eq!(tools.uses("search_flights"), 1);
        assert_eq!(test.calls("think"), 1);
    });
}

#[test]
fn a_model_that_finds_no_end_runs_out_of_turns() {
    virtual_time(async {
        let tools = Tools::default();
        let test = TestEngine::builder().workflows(Workflows::new().workflow(Agent {
            model: stubborn("book_flight", 1_000),
            tools: tools.clone(),
            budget: 3,
            patience: hours(1),
        }));
        let test = test.start().await;
        let run = start(&test).await;
        for _ in 0..3 {
            approve(&test, &run).await;
        }
        assert_eq!(run.wait().await.unwrap(), Outcome::OutOfTurns);
        assert_eq!(tools.uses("book_flight"), 3);
    });
}

#[test]
fn the_model_learns_of_a_failed_tool() {
    virtual_time(async {
        let test = engine(stubborn("book_hotel", 1), &Tools::default())
            .start()
            .await;
        let run = start(&test).await;
        approve(&test, &run).await;
        let Outcome::Answered(answer) = run.wait().await.unwrap() else {
            panic!("no answer");
        };
        assert!(
            answer.contains("book_hotel failed: there is no tool `book_hotel`"),
            "{answer}"
        );
    });
}

#[test]
fn a_crash_repeats_neither_questions_nor_bookings() {
    virtual_time(async {
        let tools = Tools::slow(secs(10));
        let mut test = engine(stubborn("book_flight", 1), &tools).start().await;
        let run = start(&test).await;
        // While the person decides.
        test.reach(&run, RunStatus::Waiting).await;
        test.restart().await;
        let run = test.run_of::<Agent>("agent-1").await.unwrap();
        approve(&test, &run).await;
        // While the tool runs.
        test.advance(secs(5)).await;
        assert_eq!(tools.uses("book_flight"), 1);
        test.restart().await;
        let run = test.run_of::<Agent>("agent-1").await.unwrap();
        let answer = "Go to Lisbon: booked \"TP 533\"";
        assert_eq!(run.wait().await.unwrap(), Outcome::Answered(answer.into()));
        assert_eq!(test.calls("use-tool"), 2);
        assert_eq!(tools.uses("book_flight"), 1);
        assert_eq!(test.calls("think"), 2);
    });
}

#[test]
fn a_long_conversation_stays_small() {
    virtual_time(async {
        let test = engine(stubborn("book_flight", 100), &Tools::default())
            .start()
            .await;
        let run = start(&test).await;
        for _ in 0..100 {
            approve(&test, &run).await;
        }
        let Outcome::Answered(answer) = run.wait().await.unwrap() else {
            panic!("no answer");
        };
        assert_eq!(answer.matches("booked").count(), MEMORY);
        let records = test.journal(&run).await.entries().len();
        assert!(records < 300, "{records} records after 100 turns");
    });
}
