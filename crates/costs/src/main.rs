//! `everstep-costs PIECE TIMES`: executes one part of the hot path TIMES times. `cargo xtask costs`
//! runs it under callgrind.

use std::process::ExitCode;

use everstep_costs::PIECES;

/// The allocator of the `everstep` binary.
#[global_allocator]
static ALLOCATOR: everstep_allocator::MiMalloc = everstep_allocator::MiMalloc;

fn main() -> ExitCode {
    everstep_allocator::return_freed_memory();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let parsed = match arguments.as_slice() {
        [name, times] => PIECES
            .iter()
            .find(|piece| piece.name == name)
            .zip(times.parse::<u32>().ok()),
        _ => None,
    };
    let Some((piece, times)) = parsed else {
        eprintln!("everstep-costs PIECE TIMES, where PIECE is one of:");
        for piece in PIECES {
            eprintln!("  {:14}{}", piece.name, piece.about);
        }
        return ExitCode::from(2);
    };
    let mut operation = (piece.prepare)();
    for _ in 0..times {
        operation();
    }
    // Closing the store checks its whole log, which is not part of any piece.
    std::mem::forget(operation);
    ExitCode::SUCCESS
}
