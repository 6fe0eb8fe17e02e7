// The processor time of this process and everything it has started, as Linux tells it.

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

const TICKS_PER_SECOND = Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));

/** Seconds of all descendants, those included that have ended and were waited for. */
export function cpuSeconds() {
  const processes = readProcesses();
  const children = new Map();
  for (const { pid, parent } of processes.values()) {
    children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  let ticks = 0;
  const waiting = [process.pid];
  while (waiting.length > 0) {
    const pid = waiting.pop();
    ticks += processes.get(pid)?.ticks ?? 0;
    waiting.push(...(children.get(pid) ?? []));
  }
  return ticks / TICKS_PER_SECOND;
}

function readProcesses() {
  const processes = new Map();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    const stat = statOf(name);
    if (!stat) continue;
    // Behind the name in brackets, which may contain spaces: state, parent, then at 11 to 14 the user and
    // system time of the process and of its children that have ended.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    processes.set(Number(name), { pid: Number(name), parent: Number(fields[1]), ticks });
  }
  return processes;
}

function statOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    // It ended since the folder was listed.
    return null;
  }
}
