//! The README and the guides (`docs/guides`) as documentation tests. They are not part of the library.

#[doc = include_str!("../../../README.md")]
mod readme {}

#[doc = include_str!("../../../docs/guides/getting-started.md")]
mod getting_started {}

#[doc = include_str!("../../../docs/guides/determinism.md")]
mod determinism {}

#[doc = include_str!("../../../docs/guides/changing-code.md")]
mod changing_code {}

#[doc = include_str!("../../../docs/guides/long-running-loops.md")]
mod long_running_loops {}

#[doc = include_str!("../../../docs/guides/idempotency.md")]
mod idempotency {}

#[doc = include_str!("../../../docs/guides/children.md")]
mod children {}
#[doc = include_str!("../../../docs/guides/operating-runs.md")]
mod operating_runs {}
#[doc = include_str!("../../../docs/guides/sagas.md")]
mod sagas {}

#[doc = include_str!("../../../docs/guides/testing.md")]
mod testing {}

#[doc = include_str!("../../../docs/guides/simulating.md")]
mod simulating {}
