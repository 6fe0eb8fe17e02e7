// The command line of the comparison.

import { existsSync, mkdirSync } from "node:fs";
import os from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { ENGINES } from "./engines.mjs";

export const HELP = `Compares durable engines on this machine: the same workflow of ten steps, one run at a time and many.

Usage: node bench/compare.mjs [OPTIONS]

Options:
  --seconds N           how long each measurement lasts (default: 10)
  --in-flight N,...     how many runs are in flight at once (default: 1,64,256,1024)
  --rounds N            how often all engines are measured; the table has the medians (default: 1)
  --engines NAME,...    only these (default: all)
  --everstep PROGRAM    the program to measure as Everstep (default: built by cargo, optimised)
  --data DIR            where the engines keep their data for the time being (default: the temporary folder)
  --cache DIR           where packages are kept between runs (default: everstep-compare in the user's cache)
  --out DIR             where comparison.json and comparison.md are written (default: bench/results)
  --help                this text

Engines:
${ENGINES.map(({ name, title }) => `  ${name.padEnd(20)}  ${title}`).join("\n")}

Programs that are not there are installed by the names of their packages: npm's into the cache folder,
Debian's into the system (which takes root, or sudo without a password). An engine that cannot be installed
or started is in the table with the reason, and the exit code is 1.`;

const OPTIONS = {
  seconds: { type: "string", default: "10" },
  "in-flight": { type: "string", default: "1,64,256,1024" },
  rounds: { type: "string", default: "1" },
  engines: { type: "string", default: ENGINES.map(({ name }) => name).join(",") },
  everstep: { type: "string" },
  data: { type: "string", default: os.tmpdir() },
  cache: { type: "string", default: join(cacheFolder(), "everstep-compare") },
  out: { type: "string", default: fileURLToPath(new URL("results", import.meta.url)) },
  help: { type: "boolean", default: false },
};

/** What was asked for; throws if it makes no sense. */
export function readOptions(args) {
  const { values } = parseArgs({ args, options: OPTIONS });
  if (values.help) return { help: true };
  const engines = values.engines.split(",");
  const unknown = engines.find((name) => !ENGINES.some((engine) => engine.name === name));
  if (unknown !== undefined) throw new Error(`there is no engine "${unknown}"; --help lists them`);
  const everstep = values.everstep && resolve(values.everstep);
  if (everstep && !existsSync(everstep)) throw new Error(`--everstep: there is no ${everstep}`);
  for (const folder of [values.data, values.cache]) mkdirSync(folder, { recursive: true });
  return {
    seconds: count("seconds", values.seconds),
    inFlight: values["in-flight"].split(",").map((text) => count("in-flight", text)),
    rounds: count("rounds", values.rounds),
    engines,
    everstep,
    data: resolve(values.data),
    cache: resolve(values.cache),
    out: resolve(values.out),
  };
}

/** The command that measures the same, wherever its reader keeps things. */
export function commandOf({ seconds, inFlight, rounds, engines }) {
  const asked = { seconds, "in-flight": inFlight, rounds, engines };
  const given = Object.entries(asked).filter(([name, value]) => String(value) !== OPTIONS[name].default);
  return ["node bench/compare.mjs", ...given.map(([name, value]) => `--${name} ${value}`)].join(" ");
}

function count(option, text) {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) throw new Error(`--${option}: "${text}" is not a number from 1 on`);
  return number;
}

function cacheFolder() {
  return process.env.XDG_CACHE_HOME || join(os.homedir(), ".cache");
}
