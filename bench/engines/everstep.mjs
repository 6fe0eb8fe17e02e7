// Everstep, by its own `everstep bench`: with the workflows in the process of the engine, and with a worker
// that speaks HTTP to it, which is how the other engines with a server work.

import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { versionOf } from "../packages.mjs";
import { atOurEnd } from "../server.mjs";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
const BUILD = ["build", "--release", "--locked", "--package", "everstep-cli"];

/** Everstep with its worker in the same process, or elsewhere. */
function everstep({ name, title, workload, where }) {
  return {
    name,
    title,
    install: async ({ everstep }) => {
      const program = everstep ?? (await build());
      return { program, versions: { everstep: versionOf(program) } };
    },
    start: async ({ installed, place }) => {
      const folder = join(place, name);
      mkdirSync(folder);
      return {
        settings: { store: "embedded, one fdatasync per batch of commits", workflows: where },
        guarantee: "yes: strict steps, recorded with fdatasync before the next one",
        measure: (asked) => measure(installed.program, folder, workload(asked.inFlight), asked),
        stop: async () => {},
      };
    },
  };
}

export const inProcess = everstep({
  name: "everstep",
  title: "Everstep",
  workload: (inFlight) => (inFlight === 1 ? "seq10" : "throughput"),
  where: "in the engine's process",
});

export const remote = everstep({
  name: "everstep-remote",
  title: "Everstep, remote worker",
  workload: () => "remote",
  where: "by a worker over HTTP",
});

async function build() {
  const messages = await output("cargo", [...BUILD, "--message-format=json-render-diagnostics"]);
  const programs = messages.split("\n").filter(Boolean).map((line) => JSON.parse(line).executable);
  const program = programs.findLast(Boolean);
  if (!program) throw new Error(`cargo ${BUILD.join(" ")} built no program`);
  return program;
}

async function measure(program, folder, workload, { inFlight, seconds }) {
  const data = join(folder, String(inFlight));
  const asked = ["--in-flight", String(inFlight), "--seconds", String(seconds)];
  const args = ["bench", workload, ...asked, "--data", data, "--json"];
  const [{ cases }] = JSON.parse(await output(program, args)).workloads;
  // A worker over HTTP is measured alone, too.
  const result = cases.findLast((it) => it.case === `${inFlight} in flight`);
  return {
    in_flight: inFlight,
    steps_per_second: result.steps_per_second,
    runs_completed: Math.round(result.runs_per_second * seconds),
    run_p50_ms: result.run_p50_ms,
    run_p99_ms: result.run_p99_ms,
    cpu_us_per_step: result.cpu_us_per_step,
  };
}

/** What a program prints; what it says on the way is shown only if it fails. */
function output(program, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: REPOSITORY, stdio: ["ignore", "pipe", "pipe"] });
    const keeper = child.pid ? atOurEnd('kill -s KILL "$1"', String(child.pid)) : null;
    let printed = "";
    let said = "";
    child.stdout.on("data", (bytes) => (printed += bytes));
    child.stderr.on("data", (bytes) => (said += bytes));
    child.once("error", reject);
    child.once("close", (code, signal) => {
      keeper?.kill("SIGKILL");
      if (code === 0) resolve(printed);
      else reject(new Error(`${program} ${args.join(" ")} ended with ${signal ?? code}\n${said.trim()}`));
    });
  });
}
