//! Measures the time of each part of the hot path: `cargo bench -p everstep-costs`.

use divan::Bencher;
use everstep_costs::PIECES;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    divan::main();
}

#[divan::bench(args = PIECES.iter().map(|piece| piece.name))]
fn piece(bencher: Bencher<'_, '_>, name: &str) {
    let Some(piece) = PIECES.iter().find(|piece| piece.name == name) else {
        return;
    };
    let mut operation = (piece.prepare)();
    bencher.bench_local(&mut operation);
}
