//! `seq10`, `throughput`, `payload`, `remote` and `postgres`: runs of ten strict steps, one or many at a time, executed in this process or by a
//! worker that speaks HTTP, on the embedded store or on a database.
//!
//! ```text
//!   for each number of runs in flight:   rehearsal ─▶ limits ─▶ workflows ─▶ limits ─▶ workflows ─▶ … ─▶ limits
//!   limits: bare fdatasync, a bare log in groups, the store driven alone in groups
//! ```
//!
//! The groups are as large as the engine's batches were in the workflows just before.

use super::load::{Load, LoadPlan};
use super::round_of_steps::{RATIO_TO_SYNCS, Round, what_limits};
use crate::bench::case::{Case, Rounds};
use crate::bench::figure::Bound;
use crate::bench::limits::LimitsBench;
use crate::bench::setup::Setup;
use crate::bench::store_place::StorePlace;
use crate::ending::UsageError;

/// What the results of steps have where their size is what matters.
const PAYLOAD_BYTES: [usize; 3] = [100, 1_000, 10_000];

/// Who executes the runs, and where they are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    InProcess,
    ByWorker,
    OnDatabase,
}

/// One case.
#[derive(Clone, Copy)]
struct Steps {
    how: How,
    in_flight: u32,
    payload_bytes: usize,
    /// How much of the time of a measurement it takes.
    share: f64,
}

/// `seq10`.
pub(super) fn one_at_a_time(setup: &Setup<'_>) -> anyhow::Result<Vec<Case>> {
    let steps = Steps {
        how: How::InProcess,
        in_flight: 1,
        payload_bytes: setup.payload_bytes(),
        share: 1.0,
    };
    let case = steps.measure(setup)?.into_case("1 in flight".to_owned());
    let (compared, sync) = (case.value(RATIO_TO_SYNCS), case.sync_ms() * 1e3);
    let sentence = format!(
        "A run takes {compared:.2} times as long as eleven bare syncs of {sync:.0} µs each; what is above 1 is ours."
    );
    let case = case.aim(RATIO_TO_SYNCS, Bound::AtMost, 1.5, "1.5 × 11 fdatasyncs");
    Ok(vec![case.limited_by(sentence)])
}

/// `throughput`.
pub(super) fn many_at_once(setup: &Setup<'_>) -> anyhow::Result<Vec<Case>> {
    let aimed = |(in_flight, case): (u32, Case)| match in_flight {
        64 => case.aim("of the log", Bound::AtLeast, 0.25, "groups of 64"),
        1_024 => case
            .aim("steps", Bound::AtLeast, 100_000.0, "two cores")
            .aim("of the store", Bound::AtLeast, 0.5, "a row per step")
            .aim("CPU per step", Bound::AtMost, 15.0, "over all threads"),
        _ => case,
    };
    let cases = cases(setup, How::InProcess, &setup.arguments.in_flight)?;
    Ok(cases.into_iter().map(aimed).collect())
}

/// `payload`, with as many runs in flight as are asked for at most. For a quarter of the time, because large results fill a
/// disk.
pub(super) fn of_many_sizes(setup: &Setup<'_>) -> anyhow::Result<Vec<Case>> {
    let in_flight = setup.arguments.in_flight.iter().copied().max().unwrap_or(1);
    let measured = PAYLOAD_BYTES.iter().map(|&payload_bytes| {
        let steps = Steps {
            how: How::InProcess,
            in_flight,
            payload_bytes,
            share: 0.25,
        };
        steps.explained(setup, format!("{payload_bytes} bytes"))
    });
    measured.collect()
}

/// `remote`.
pub(super) fn by_a_worker(setup: &Setup<'_>) -> anyhow::Result<Vec<Case>> {
    let aimed = |(in_flight, case): (u32, Case)| match in_flight {
        1_024 => {
            let means = "4 × the best durable engine";
            case.aim("steps", Bound::AtLeast, 20_000.0, means)
        }
        _ => case,
    };
    let cases = cases(setup, How::ByWorker, &with_one_alone(setup))?;
    Ok(cases.into_iter().map(aimed).collect())
}

/// `postgres`.
pub(super) fn on_a_database(setup: &Setup<'_>) -> anyhow::Result<Vec<Case>> {
    let cases = cases(setup, How::OnDatabase, &with_one_alone(setup))?;
    Ok(cases.into_iter().map(|(_, case)| case).collect())
}

fn with_one_alone(setup: &Setup<'_>) -> Vec<u32> {
    let many = setup.arguments.in_flight.iter().copied();
    std::iter::once(1).chain(many).collect()
}

fn cases(setup: &Setup<'_>, how: How, numbers: &[u32]) -> anyhow::Result<Vec<(u32, Case)>> {
    let measured = numbers.iter().map(|&in_flight| {
        let steps = Steps {
            how,
            in_flight,
            payload_bytes: setup.payload_bytes(),
            share: 1.0,
        };
        let case = steps.explained(setup, format!("{in_flight} in flight"))?;
        Ok((in_flight, case))
    });
    measured.collect()
}

impl Steps {
    /// What was measured, and what limits it.
    fn explained(self, setup: &Setup<'_>, name: String) -> anyhow::Result<Case> {
        let case = self.measure(setup)?.into_case(name);
        let sentence = what_limits(&case);
        Ok(case.limited_by(sentence))
    }

    /// Limits and workflows in turns, so that both meet the machine in the same mood.
    fn measure(self, setup: &Setup<'_>) -> anyhow::Result<Rounds> {
        let Self {
            how,
            in_flight,
            payload_bytes,
            share,
        } = self;
        let mut rounds = Rounds::default();
        let (place, of_limits) = (place(setup, how, "engine")?, place(setup, how, "store")?);
        let mut limits = LimitsBench::open(setup, &of_limits, in_flight, payload_bytes)?;
        let plan = LoadPlan {
            in_flight,
            is_remote: how == How::ByWorker,
            payload_bytes,
            warm_up: setup.warm_up(),
        };
        let (length, progress) = (setup.round_length().mul_f64(share), &setup.progress);
        let runtime = match how {
            How::ByWorker => setup.runtime_with_clients()?,
            How::InProcess | How::OnDatabase => setup.runtime()?,
        };
        let mut load = Load::open(plan, runtime, &place)?;
        let rehearsal = load.measure(length / 4, progress)?;
        let mut before = limits.measure(rehearsal.group, setup)?;
        for _ in 0..setup.rounds() {
            let window = load.measure(length, progress)?;
            let after = limits.measure(window.group, setup)?;
            let limits = before.with(&after);
            Round { window, limits }.tell(&mut rounds, in_flight == 1);
            before = after;
        }
        load.close()?;
        Ok(rounds)
    }
}

/// An empty store.
fn place(setup: &Setup<'_>, how: How, name: &str) -> anyhow::Result<StorePlace> {
    if how != How::OnDatabase {
        return Ok(StorePlace::Directory(setup.place.fresh(name)?));
    }
    let url = setup.arguments.store.clone().ok_or_else(|| UsageError {
        what: "this workload needs a database".to_owned(),
        remedy: "Name one with --store postgres://user@host/database.".to_owned(),
    })?;
    let name = setup.schema(name);
    Ok(StorePlace::Schema { url, name })
}
