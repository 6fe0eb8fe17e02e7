// What the figures were measured on: the machine, and how long its disk takes to keep a small write.

import { execFileSync } from "node:child_process";
import { closeSync, fdatasyncSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import os from "node:os";
import { join } from "node:path";

import { quantile } from "./load.mjs";

const SYNCING_SECONDS = 1;
const APPEND_BYTES = 128;
/** The file systems of Linux that live in memory, by their magic numbers: tmpfs and ramfs. */
const IN_MEMORY = [0x01021994, 0x858458f6];

export function describeMachine() {
  return {
    cpu: os.cpus()[0]?.model.trim() ?? "unknown",
    cores: os.availableParallelism(),
    memory_gib: Math.round(os.totalmem() / 2 ** 30),
    // Without what a builder of kernels adds to the number.
    system: `${os.type()} ${os.release().split(".").slice(0, 2).join(".")}`,
  };
}

/** Refuses a folder where nothing is durable, however often it is synced. */
export function requireDisk(folder) {
  if (IN_MEMORY.includes(statfsSync(folder).type)) {
    throw new Error(`${folder} is in memory, where nothing is durable; choose a folder on a disk with --data`);
  }
}

/** What disk and processors have to offer just now; on a shared machine, that changes by the minute. */
export function conditions(folder) {
  // What was written before is not to be waited for by whoever is measured next.
  execFileSync("sync");
  return { fdatasync_us: bareFdatasyncMicros(folder), load_average: os.loadavg()[0] };
}

/** The median time of one small append with fdatasync, in microseconds. */
function bareFdatasyncMicros(folder) {
  const file = join(folder, "fdatasync");
  const bytes = Buffer.alloc(APPEND_BYTES, "x");
  const descriptor = openSync(file, "a");
  const micros = [];
  const end = performance.now() + SYNCING_SECONDS * 1000;
  while (performance.now() < end) {
    const started = performance.now();
    writeSync(descriptor, bytes);
    fdatasyncSync(descriptor);
    micros.push((performance.now() - started) * 1000);
  }
  closeSync(descriptor);
  rmSync(file);
  return quantile(micros.sort((a, b) => a - b), 0.5);
}
