// One engine, from its installation to its figures, in a process of its own: what one engine leaves in memory
// does not slow the next, and a crash is the crash of one. Started by `compare.mjs`, to which it sends its
// progress and, at the end, either the figures or the failure.

import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";

import { ENGINES } from "./engines.mjs";
import { conditions } from "./machine.mjs";
import { atOurEnd } from "./server.mjs";

const options = JSON.parse(process.argv[2]);
const engine = ENGINES.find(({ name }) => name === options.engine);

let place = null;
let running = null;
let isLeaving = false;

async function measure() {
  tell({ progress: "installing" });
  const installed = await engine.install(options);
  place = makePlace();
  tell({ progress: "starting" });
  running = await engine.start({ installed, place });
  const { settings, guarantee } = running;
  const results = [];
  for (const inFlight of options.inFlight) {
    tell({ progress: `${inFlight} in flight for ${options.seconds} s` });
    const before = conditions(place);
    const result = await running.measure({ inFlight, seconds: options.seconds });
    results.push({ ...result, ...before });
  }
  return { versions: installed.versions, settings, guarantee, results };
}

/** The folder for all that the engine writes. It is gone when we are, at the latest. */
function makePlace() {
  const folder = mkdtempSync(join(options.data, "everstep-compare-"));
  // Some servers run as other users, who have to get there.
  chmodSync(folder, 0o755);
  // A moment later, when servers that are being killed write no more.
  atOurEnd('sleep 2; rm -rf "$1"', folder);
  return folder;
}

function tell(message) {
  if (process.connected) process.send(message);
}

/** Ends this process and all that it has started; the first reason counts. */
async function leave(code, message) {
  if (isLeaving) return;
  isLeaving = true;
  if (message) tell(message);
  try {
    await running?.stop();
    if (place) rmSync(place, { recursive: true, force: true });
  } finally {
    process.exit(code);
  }
}

const fail = (error) => leave(1, { failure: error.message || String(error) });

for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => leave(1));
// Whoever wanted the figures is gone.
process.on("disconnect", () => leave(1));
process.on("uncaughtException", fail);
measure().then((figures) => leave(0, { figures }), fail);
