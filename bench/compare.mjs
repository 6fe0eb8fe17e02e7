#!/usr/bin/env node
// The one entry point of the comparison: measures the engines one after the other, each in a process of its
// own (`measure.mjs`), and writes what came out as JSON and as tables.

import { fork } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";

import { ENGINES } from "./engines.mjs";
import { PAYLOAD, STEPS_PER_RUN } from "./load.mjs";
import { describeMachine, requireDisk } from "./machine.mjs";
import { commandOf, HELP, readOptions } from "./options.mjs";
import { nodeProgram, versionOf } from "./packages.mjs";
import { tables } from "./tables.mjs";

const INTERRUPTED = 130;

let child = null;
let isInterrupted = false;

async function main(args) {
  const options = readOptions(args);
  if (options.help) {
    console.log(HELP);
    return 0;
  }
  requireDisk(options.data);
  const comparison = await compare(options);
  if (isInterrupted) return INTERRUPTED;
  write(options.out, comparison);
  return comparison.rounds.flat().some((engine) => engine.not_measured) ? 1 : 0;
}

async function compare(options) {
  const node = await nodeProgram(options.cache);
  const chosen = ENGINES.filter(({ name }) => options.engines.includes(name));
  const rounds = [];
  while (rounds.length < options.rounds && !isInterrupted) {
    if (options.rounds > 1) say(`round ${rounds.length + 1} of ${options.rounds}`);
    rounds.push(await oneRound(chosen, options, node));
  }
  return {
    date: new Date().toISOString(),
    command: commandOf(options),
    machine: { ...describeMachine(), node: versionOf(node) },
    seconds: options.seconds,
    steps_per_run: STEPS_PER_RUN,
    payload_bytes: JSON.stringify(PAYLOAD).length,
    rounds,
  };
}

async function oneRound(chosen, options, node) {
  const engines = [];
  for (const engine of chosen) {
    if (isInterrupted) break;
    const outcome = await measured(engine, options, node);
    if (outcome.not_measured && !isInterrupted) say(`${engine.title}: not measured: ${outcome.not_measured}`);
    engines.push({ name: engine.name, title: engine.title, ...outcome });
  }
  return engines;
}

/** The figures of one engine; what does not work becomes the reason why there are none. */
function measured(engine, options, node) {
  return new Promise((resolve) => {
    let outcome = null;
    const argument = JSON.stringify({ ...options, engine: engine.name });
    child = fork(new URL("measure.mjs", import.meta.url), [argument], {
      execPath: node,
      execArgv: ["--no-deprecation"],
      // What the engines print goes to our error output: ours is for the tables.
      stdio: ["ignore", 2, 2, "ipc"],
    });
    child.on("message", ({ progress, figures, failure }) => {
      if (progress) say(`${engine.title}: ${progress}`);
      else outcome = figures ?? { not_measured: withoutPaths(failure, options) };
    });
    child.once("exit", (code, signal) => {
      child = null;
      resolve(outcome ?? { not_measured: `its process ended with ${signal ?? code}` });
    });
  });
}

/** The result may be published: where this machine keeps things is nobody's business. */
function withoutPaths(text, { cache, data }) {
  return text.replaceAll(cache, "CACHE").replaceAll(data, "DATA");
}

function write(folder, comparison) {
  const text = tables(comparison);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "comparison.json"), `${JSON.stringify(comparison, null, 2)}\n`);
  writeFileSync(join(folder, "comparison.md"), text);
  say(`written: comparison.json and comparison.md in ${relative(process.cwd(), folder) || "."}\n`);
  console.log(text);
}

function say(text) {
  console.error(text);
}

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.on(signal, () => {
    if (!isInterrupted) say("interrupted: stopping what runs");
    isInterrupted = true;
    child?.kill("SIGTERM");
  });
}

main(process.argv.slice(2)).then(
  (code) => (process.exitCode = code),
  (error) => {
    say(`compare: ${error.message}`);
    process.exitCode = 2;
  },
);
