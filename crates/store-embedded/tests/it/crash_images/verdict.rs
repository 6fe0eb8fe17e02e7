//! Checks the content of a store that was opened from an image.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use everstep_store_testkit::block_on;
use everstep_store_testkit::property::Account;
use everstep_store_testkit::sample::creation;

use super::driver::{open, workload};
use super::operation::{Mark, Operation};

/// The content of the store before the first batch of a workload and after each batch.
pub(super) struct Expected(Vec<Account>);

impl Expected {
    pub(super) fn of(seed: u64, batches: usize) -> Self {
        let mut workload = workload(seed);
        let mut accounts = vec![block_on(workload.account())];
        for _ in 0..batches {
            block_on(workload.next());
            accounts.push(block_on(workload.account()));
        }
        Self(accounts)
    }
}

/// The minimum and maximum number of batches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Promised {
    pub(super) at_least: usize,
    pub(super) at_most: usize,
}

impl Promised {
    pub(super) fn observe(&mut self, operation: &Operation) {
        match operation {
            Operation::Mark(Mark::Visible(n) | Mark::Acknowledged(n)) => {
                self.at_least = *n;
                self.at_most = *n;
            }
            Operation::Mark(Mark::Begun(n)) => self.at_most = *n,
            _ => {}
        }
    }
}

/// Opens an image. Returns the number of its batches, or what is wrong with it.
pub(super) fn judge(
    store: &Path,
    promised: Promised,
    expected: &Expected,
) -> Result<usize, String> {
    let judged = catch_unwind(AssertUnwindSafe(|| inspect(store, promised, expected)));
    judged.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        Err(format!("it panics: {}", text.unwrap_or_default()))
    })
}

fn inspect(store: &Path, promised: Promised, expected: &Expected) -> Result<usize, String> {
    let f = open(store).map_err(|error| format!("it does not open: {error}"))?;
    let found = block_on(Account::of(&f));
    let may_be = promised.at_least..=promised.at_most;
    let Some(number) = may_be.clone().find(|n| expected.0[*n] == found) else {
        let difference = found.difference(&expected.0[promised.at_least]);
        let instead = expected.0.iter().position(|accounts| *accounts == found);
        let instead = instead.map(|n| format!("it holds {n} batches; "));
        return Err(format!(
            "{may_be:?} batches were promised: {}{}",
            instead.unwrap_or_default(),
            difference.unwrap_or_default()
        ));
    };
    // The store must also accept commits.
    block_on(async {
        let stream = f.create_with(creation("afterwards")).await;
        assert_eq!(f.numbers(stream).await, [0]);
    });
    Ok(number)
}
