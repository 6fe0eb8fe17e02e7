//! A variant in the comparison: its steps per second and the CPU time of both sides.

use std::time::{Duration, Instant};

use everstep_private_postgres::{Server, processor_time_of};

pub(crate) struct Contender {
    name: &'static str,
    rates: Vec<f64>,
    steps: u64,
    own_time: Duration,
    server_time: Option<Duration>,
}

impl Contender {
    pub(crate) fn new(name: &'static str) -> Self {
        Self {
            name,
            rates: Vec::new(),
            steps: 0,
            own_time: Duration::ZERO,
            server_time: None,
        }
    }

    /// Runs a turn on its own threads, which end before the next turn begins.
    pub(crate) fn turn(&mut self, server: Option<&Server>, work: impl Future<Output = u64>) {
        let of_server = || server.and_then(Server::processor_time);
        let own = || processor_time_of("self").unwrap_or_default();
        let (server_before, own_before, begun) = (of_server(), own(), Instant::now());
        let runtime = runtime();
        let steps = runtime.block_on(work);
        self.rates
            .push(steps as f64 / begun.elapsed().as_secs_f64());
        drop(runtime);
        self.own_time += own().saturating_sub(own_before);
        // The server adds the CPU time of a process when it has ended.
        std::thread::sleep(Duration::from_millis(500));
        self.steps += steps;
        if let Some((after, before)) = of_server().zip(server_before) {
            *self.server_time.get_or_insert_default() += after.saturating_sub(before);
        }
        println!("{}: {:.0} steps/s", self.name, self.rates.last().unwrap());
    }

    /// The median over all turns.
    pub(crate) fn rate(&self) -> f64 {
        median(&self.rates)
    }

    /// Formats its results, compared with another rate.
    pub(crate) fn report(&self, other: f64) -> String {
        let micros = |time: Duration| time.as_secs_f64() * 1e6 / self.steps as f64;
        let (name, rate) = (self.name, self.rate());
        let times = rate / other;
        let own = micros(self.own_time);
        let of_server = self.server_time.map(micros);
        let of_server = of_server.map_or("?".to_owned(), |micros| format!("{micros:.0}"));
        format!(
            "{name:<30} {rate:>7.0} steps/s, {times:.1} times; processor a step: server {of_server} µs, client {own:.0} µs"
        )
    }
}

pub(crate) fn median(rates: &[f64]) -> f64 {
    percentile(&mut rates.to_vec(), 0.5)
}

/// The value at this percentile. Sorts the values.
pub(crate) fn percentile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let index = (values.len() as f64 * share) as usize;
    values[index.min(values.len() - 1)]
}

pub(crate) fn runtime() -> tokio::runtime::Runtime {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(2).enable_all().build().unwrap()
}
