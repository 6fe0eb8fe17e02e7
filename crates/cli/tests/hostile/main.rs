//! Hostile clients: they cost the server little memory, and well-behaved clients keep being served.
//!
//! A real server is attacked in several ways, one after the other. A well-behaved client is
//! measured before each attack and during it, so both figures come from the same conditions. Memory
//! and correctness are checked; latencies are reported, because attackers and server share a
//! machine here. `cargo xtask hostile --rounds N` repeats everything.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that panics is a test that fails"
)]
#![cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, unused_imports, reason = "memory is read from /proc")
)]

mod attack;
mod attacks;
mod client;
#[path = "../../../server/tests/it/frames.rs"]
#[allow(dead_code, reason = "other tests use the rest of it")]
mod frames;
mod http2_attacks;
mod report;
mod target;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use attack::{Attack, Caller, Victim};
use client::WellBehaved;
use report::{Measured, Report};
use target::Target;

/// How much memory the attacks of callers without a key may cost.
const GROWTH_MIB_MAX: u64 = 64;
/// How long the client is measured alone, and during an attack.
const MEASURE: Duration = Duration::from_millis(1_000);
/// How long an attack lasts before the client is measured.
const BEGINNING: Duration = Duration::from_millis(400);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    if has("--list") {
        if !has("--ignored") {
            println!("hostile_clients_cost_little_and_stop_no_others: test");
        }
        return ExitCode::SUCCESS;
    }
    let after = arguments
        .iter()
        .skip_while(|argument| *argument != "--rounds");
    let rounds = after
        .take(2)
        .last()
        .map_or(1, |rounds| rounds.parse().unwrap());
    #[cfg(target_os = "linux")]
    run(rounds);
    println!("1 passed, 0 failed");
    ExitCode::SUCCESS
}

// B787
#[cfg(target_os = "linux")]
fn run(rounds: usize) {
    target::raise_limit();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut report = Report::default();
    let is_small = runtime.block_on(async {
        let empty = Target::start();
        let is_small = attack_all(&empty, &attack::without_key(), rounds, &mut report).await;
        drop(empty);
        // Known callers may store something, so that their server is another one.
        let known = Target::start();
        attack_all(&known, &attack::by_known_callers(), rounds, &mut report).await;
        drop(known);
        let full = Target::start();
        full.start_runs().await;
        attack_all(&full, &attack::on_full_store(), rounds, &mut report).await && is_small
    });
    println!("{report}");
    assert!(is_small, "attacks without a key cost too much memory");
}

/// Returns whether the attacks of callers without a key cost little memory.
async fn attack_all(
    target: &Target,
    attacks: &[Attack],
    rounds: usize,
    report: &mut Report,
) -> bool {
    let mut client = WellBehaved::connect(target).await;
    client.measure(MEASURE).await;
    let victim = Victim::of(target).await;
    let (before, mut is_small) = (target.memory_mib(), true);
    for attack in (0..rounds).flat_map(|_| attacks) {
        let measured = measure(target, &victim, &mut client, *attack).await;
        let grown = measured.memory_mib.saturating_sub(before);
        println!("{}: {grown} MiB", attack.name);
        is_small &= attack.by != Caller::WithoutKey || grown <= GROWTH_MIB_MAX;
        report.add(attack.name, grown, measured);
    }
    is_small
}

/// Measures a client alone and during an attack.
async fn measure(
    target: &Target,
    victim: &Arc<Victim>,
    client: &mut WellBehaved,
    attack: Attack,
) -> Measured {
    let alone = client.measure(MEASURE).await;
    let attackers = attack.begin(victim.clone());
    tokio::time::timeout(BEGINNING, std::future::pending::<()>())
        .await
        .unwrap_err();
    let attacked = client.measure(MEASURE).await;
    let memory_mib = target.memory_mib();
    drop(attackers);
    for latencies in [&alone, &attacked] {
        assert_eq!(latencies.failures, Vec::<String>::new(), "{}", attack.name);
    }
    Measured {
        alone,
        attacked,
        memory_mib,
    }
}
