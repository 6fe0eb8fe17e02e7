// Programs that an engine needs beside it (a database, a broker, a server): started, waited for, stopped.
// None of them outlives the process that started it, however that process ends.

import { spawn, execFileSync } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { createServer, connect } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

const START_SECONDS_MAX = 60;
const STOP_SECONDS_MAX = 15;
const LOG_LINES_SHOWN = 15;

/**
 * Starts a program and waits until it listens.
 *
 * @param {object} how
 * @param {string} how.name what to call it in messages; its log is `NAME.log` in the folder
 * @param {string} how.program
 * @param {string[]} how.args
 * @param {string} how.folder where it runs
 * @param {number[]} how.ports where it listens once it is ready
 * @param {Record<string, string>} [how.env] variables besides ours
 * @param {{uid: number, gid: number}} [how.user] who runs it, if not we
 * @param {NodeJS.Signals} [how.stopSignal] what asks it to stop
 */
export async function startServer({ name, program, args, folder, ports, env, user, stopSignal = "SIGTERM" }) {
  const logFile = join(folder, `${name}.log`);
  const log = openSync(logFile, "a");
  const child = spawn(program, args, {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ["ignore", log, log],
    // A process group of its own, so that all it starts can be stopped with it.
    detached: true,
    ...user,
  });
  closeSync(log);
  let ended = null;
  const end = new Promise((resolve) => {
    child.once("error", (error) => resolve((ended = error.message)));
    child.once("exit", (code, signal) => resolve((ended = `it ended with ${signal ?? code}`)));
  });
  // With -s: only so does every shell take a group.
  const keeper = child.pid ? atOurEnd('kill -s KILL -- "-$1"', String(child.pid)) : null;

  const stop = async () => {
    signalGroup(child.pid, ended ? "SIGKILL" : stopSignal);
    await Promise.race([end, pause(STOP_SECONDS_MAX * 1000, null, { ref: false })]);
    signalGroup(child.pid, "SIGKILL");
    await end;
    keeper?.kill("SIGKILL");
  };

  const deadline = Date.now() + START_SECONDS_MAX * 1000;
  while (!(await areListening(ports))) {
    if (ended || Date.now() > deadline) {
      const why = ended ?? `it does not listen after ${START_SECONDS_MAX} s`;
      const lines = lastLines(logFile);
      await stop();
      throw new Error(`${name} did not start: ${why}\n${lines}`);
    }
    await pause(100);
  }
  return { pid: child.pid, stop };
}

/** Runs a line of shell with one argument once this process has ended, even if it was killed. */
export function atOurEnd(line, argument) {
  // Only we hold the other end of its input. What interrupts us must not end it too.
  const script = `trap '' INT TERM HUP; cat >/dev/null; ${line}`;
  const shell = spawn("sh", ["-c", script, "keeper", argument], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  shell.unref();
  shell.stdin.unref();
  return shell;
}

/** A port that nobody listens on now. */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** The ids of a user of this machine, for a program that refuses to run as root. */
export function userNamed(name) {
  const id = (flag) => Number(execFileSync("id", [flag, name], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

async function areListening(ports) {
  return (await Promise.all(ports.map(isListening))).every(Boolean);
}

function isListening(port) {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("error", () => resolve(false));
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
  });
}

function signalGroup(pid, signal) {
  if (!pid) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // Nobody is left in the group.
    if (error.code !== "ESRCH") throw error;
  }
}

function lastLines(file) {
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  return lines.slice(-LOG_LINES_SHOWN).join("\n");
}
