//! Plans a trip with an agent whose tool calls you approve. Without a terminal, a script answers.
//! Run it, kill it with `kill -9`, and run it again: it continues with the same question.

use std::io::{IsTerminal, Write};

use everstep::journal::Body;
use everstep::journal::record::{RpcRequested, StepCompleted};
use everstep::{Engine, Handle, Workflows, days, millis};
use everstep_agent::agent::{Agent, ApproveTool, Decision, Stop, Verdict};
use everstep_agent::model::{Model, Move};
use everstep_agent::tools::Tools;

type Failure = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let folder = std::env::args().nth(1);
    let folder = folder.unwrap_or_else(|| "target/agent".to_owned());
    println!("Kill this with `kill -9` at any time and run it again: it continues where it was.");
    println!("Data is in {folder}; delete it to start over.");

    let agent = Agent {
        model: Model::travel_agent(millis(500)),
        tools: Tools::slow(millis(500)),
        budget: 10,
        patience: days(7),
    };
    let engine = Engine::open(&folder)
        .workflows(Workflows::new().workflow(agent))
        .start()
        .await?;
    let task = "Plan a trip to Lisbon".to_owned();
    let run = engine.start::<Agent>(&task).id("agent-1").await?;
    println!("{task}: {}", run.status().await?);

    // Read the journal from its beginning, and then each new record. After a restart this prints
    // the conversation so far.
    let mut records = run.records().await?;
    while let Some(entry) = records.next().await? {
        match entry.record.body {
            Body::StepCompleted(step) => show(&step)?,
            Body::RpcRequested(question) => answer(&run, &question).await?,
            Body::RpcAnswered(answered) => println!("  person: {}", answered.answer.as_str()),
            _ => {}
        }
    }
    println!("{:?}", run.wait().await?);
    engine.shutdown().await;
    Ok(())
}

/// Prints a message of the model or a tool.
fn show(step: &StepCompleted) -> Result<(), Failure> {
    match step.location.name.as_str() {
        "think" => match step.result.decode()? {
            Move::Call(call) => println!("  model: {} {}", call.tool, call.arguments),
            Move::Answer(_) => println!("  model: done"),
        },
        _ => println!("  tool: {}", step.result.as_str()),
    }
    Ok(())
}

/// Answers a question if it is still open.
async fn answer(run: &Handle<Agent>, question: &RpcRequested) -> Result<(), Failure> {
    let open = run.inspect().await?.overview.rpcs;
    if !open.iter().any(|rpc| rpc.rpc_id == question.rpc_id) {
        return Ok(());
    }
    let request: ApproveTool = question.args.decode()?;
    let word = if std::io::stdin().is_terminal() {
        let prompt = format!(
            "  {} {}: y, n, or s to stop? ",
            request.tool, request.arguments
        );
        tokio::task::spawn_blocking(move || read_word(&prompt)).await??
    } else {
        // Without a terminal, approve everything except mail to everyone.
        let is_fine = request.tool != "send_mail";
        (if is_fine { "y" } else { "n" }).to_owned()
    };
    let verdict = match word.as_str() {
        "y" => Verdict::Approve,
        "s" => {
            let reason = "the person had enough".to_owned();
            run.send(&Stop { reason }).await?;
            return Ok(());
        }
        _ => Verdict::Reject,
    };
    let note = match verdict {
        Verdict::Approve => String::new(),
        Verdict::Reject => "the person does not want that".to_owned(),
    };
    run.answer::<ApproveTool>(&question.rpc_id, &Decision { verdict, note })
        .await?;
    Ok(())
}

fn read_word(prompt: &str) -> std::io::Result<String> {
    print!("{prompt}");
    std::io::stdout().flush()?;
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    Ok(line.trim().to_owned())
}
