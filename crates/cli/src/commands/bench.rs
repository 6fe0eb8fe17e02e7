//! `everstep bench`: the benchmark of the crate `everstep-bench`.

use everstep_bench::BenchArguments;

use crate::ending::{Ending, UsageError};

pub(crate) fn run(arguments: &BenchArguments, is_json: bool) -> anyhow::Result<Ending> {
    everstep_bench::run(arguments, is_json).map_err(|error| {
        match error.downcast::<everstep_bench::UsageError>() {
            Ok(everstep_bench::UsageError { what, remedy }) => UsageError { what, remedy }.into(),
            Err(error) => error,
        }
    })?;
    Ok(Ending::Well)
}
