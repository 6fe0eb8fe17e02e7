//! The README and the guides as documentation tests. They are not part of the library.

macro_rules! guides {
    ($($name:ident $path:literal,)*) => {
        $(
            #[doc = include_str!(concat!("../../../", $path))]
            mod $name {}
        )*
    };
}

guides! {
    readme "README.md",
    getting_started "docs/guides/getting-started.md",
    determinism "docs/guides/determinism.md",
    changing_code "docs/guides/changing-code.md",
    long_running_loops "docs/guides/long-running-loops.md",
    idempotency "docs/guides/idempotency.md",
    children "docs/guides/children.md",
    operating_runs "docs/guides/operating-runs.md",
    sagas "docs/guides/sagas.md",
    testing "docs/guides/testing.md",
    simulating "docs/guides/simulating.md",
}
