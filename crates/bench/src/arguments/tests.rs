//! The default choice of workloads.

use clap::Parser;

use super::*;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    bench: BenchArguments,
}

fn chosen(words: &[&str]) -> Vec<Workload> {
    let words = std::iter::once("bench").chain(words.iter().copied());
    Line::parse_from(words).bench.chosen()
}

#[test]
fn postgres_is_chosen_by_default_only_with_a_database() {
    let (without, with) = (chosen(&[]), chosen(&["--store", "postgres://here"]));
    assert_eq!(with.len(), Workload::value_variants().len());
    assert_eq!(without.len(), with.len() - 1);
    assert!(!without.contains(&Workload::Postgres));
    let named = chosen(&["loop", "start"]);
    assert_eq!(named, [Workload::Loop, Workload::Start]);
}
