// The load: runs of ten steps, a fixed number of them in flight, for a fixed time. The same for every
// engine that is driven from here; Everstep's own `bench` does the same in its process.

import { setTimeout as pause } from "node:timers/promises";

import { cpuSeconds } from "./cpu.mjs";

export const STEPS_PER_RUN = 10;
const WARM_UP_SECONDS = 2;
const DRAIN_SECONDS_MAX = 60;

/** What each step returns: 100 bytes as JSON, the quotes included. */
export const PAYLOAD = "x".repeat(98);

/** What a run returns, so that whoever started it can tell that all steps were made. */
export const BYTES_PER_RUN = STEPS_PER_RUN * PAYLOAD.length;

/**
 * Keeps `inFlight` runs going and tells what came of it.
 *
 * @param {object} engine
 * @param {() => Promise<number>} engine.run starts one run and waits for its result
 * @param {() => Promise<number> | number} engine.stepsDone how many steps were executed so far
 * @param {{inFlight: number, seconds: number}} workload
 */
export async function measureLoad({ run, stepsDone }, { inFlight, seconds }) {
  const state = { phase: "warming up", runMillis: [] };
  const clients = Promise.all(Array.from({ length: inFlight }, () => client(run, state)));
  // A client ends early only by failing; then there is nothing to wait for.
  const during = (span) => Promise.race([pause(span * 1000), clients]);

  await during(WARM_UP_SECONDS);
  const before = await reading(stepsDone);
  state.phase = "measuring";
  await during(seconds);
  const after = await reading(stepsDone);
  state.phase = "ending";
  await drained(clients);

  const elapsed = after.seconds - before.seconds;
  const steps = after.steps - before.steps;
  if (steps === 0) throw new Error(`not one step was made in ${seconds} s`);
  const sorted = state.runMillis.sort((a, b) => a - b);
  return {
    in_flight: inFlight,
    steps_per_second: steps / elapsed,
    runs_completed: sorted.length,
    run_p50_ms: quantile(sorted, 0.5),
    run_p99_ms: quantile(sorted, 0.99),
    cpu_us_per_step: ((after.cpu - before.cpu) / steps) * 1e6,
  };
}

async function client(run, state) {
  while (state.phase !== "ending") {
    const started = performance.now();
    const bytes = await run();
    if (bytes !== BYTES_PER_RUN) throw new Error(`a run returned ${bytes} instead of ${BYTES_PER_RUN}`);
    if (state.phase === "measuring") state.runMillis.push(performance.now() - started);
  }
}

async function reading(stepsDone) {
  return { steps: await stepsDone(), cpu: cpuSeconds(), seconds: performance.now() / 1000 };
}

async function drained(clients) {
  const late = pause(DRAIN_SECONDS_MAX * 1000, "late", { ref: false });
  if ((await Promise.race([clients, late])) === "late") {
    throw new Error(`runs were still under way ${DRAIN_SECONDS_MAX} s after the last was started`);
  }
}

/** The value below which this share of the sorted values lies; null if there are none. */
export function quantile(sorted, share) {
  if (sorted.length === 0) return null;
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}
