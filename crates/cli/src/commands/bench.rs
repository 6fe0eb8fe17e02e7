//! `everstep bench`: the benchmark of the crate `everstep-bench`.

use everstep_bench::BenchArguments;

use crate::exit::Exit;
use crate::usage_error::UsageError;

pub(crate) fn run(arguments: &BenchArguments, is_json: bool) -> anyhow::Result<Exit> {
    everstep_bench::run(arguments, is_json).map_err(|error| {
        match error.downcast::<everstep_bench::UsageError>() {
            Ok(usage) => UsageError::new(usage.what, usage.remedy).into(),
            Err(error) => error,
        }
    })?;
    Ok(Exit::Success)
}
