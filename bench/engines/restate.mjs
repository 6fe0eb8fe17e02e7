// Restate: its server, and the workflow as a handler of its TypeScript SDK in a process of its own
// (`restate-service.mjs`). Runs are requests to the server's ingress.

import { fork } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";

import { measureLoad } from "../load.mjs";
import { npmPackages } from "../packages.mjs";
import { freePort, startServer } from "../server.mjs";

const PACKAGES = { "@restatedev/restate-server": "1.7.12", "@restatedev/restate-sdk": "1.17.2" };

// More than the load ever has in flight; the default of 1,000 would hold some of it back.
const INVOCATIONS_MAX = 4096;

export const name = "restate";
export const title = "Restate";

export async function install({ cache }) {
  return npmPackages(cache, name, PACKAGES);
}

export async function start({ installed, place }) {
  const folder = join(place, name);
  mkdirSync(folder);
  const [node, ingress, admin] = [await freePort(), await freePort(), await freePort()];
  const config = join(folder, "restate.toml");
  writeFileSync(config, configuration({ folder, node, ingress, admin }));
  const server = await startServer({
    name: "restate-server",
    program: join(installed.folder, "node_modules", ".bin", "restate-server"),
    args: ["--config-file", config, "--no-logo"],
    folder,
    ports: [ingress, admin],
  });
  let service;
  const agent = new Agent({ keepAlive: true });
  const stop = async () => {
    service?.kill("SIGKILL");
    agent.destroy();
    await server.stop();
  };
  try {
    const servicePort = await freePort();
    service = await startService(servicePort, installed.folder);
    await register(admin, servicePort);
    const run = () => post(agent, ingress, "/bench/tenSteps");
    return {
      settings: {
        server: "single node, replicated log with one copy, 24 partitions (defaults)",
        "rocksdb-disable-wal-fsync": "false, for the log",
        "concurrent-invocations-limit": INVOCATIONS_MAX,
      },
      guarantee: "yes: the SDK goes on when the server has logged the result with fsync",
      measure: (workload) => measureLoad({ run, stepsDone: () => ask(service) }, workload),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function configuration({ folder, node, ingress, admin }) {
  return `
base-dir = "${folder}"
node-name = "bench"
bind-address = "127.0.0.1:${node}"
listen-mode = "tcp"
log-filter = "warn"
log-disable-ansi-codes = true
disable-telemetry = true

[worker.invoker]
concurrent-invocations-limit = ${INVOCATIONS_MAX}

[admin]
bind-address = "127.0.0.1:${admin}"
disable-web-ui = true

[ingress]
bind-address = "127.0.0.1:${ingress}"

[bifrost]
default-provider = "replicated"

[log-server]
rocksdb-disable-wal-fsync = false
`;
}

async function startService(port, packages) {
  const service = fork(new URL("restate-service.mjs", import.meta.url), [String(port), packages], {
    env: { ...process.env, RESTATE_LOGGING: "ERROR" },
  });
  await new Promise((resolve, reject) => {
    service.once("message", resolve);
    service.once("exit", (code) => reject(new Error(`the service of Restate ended with ${code}`)));
  });
  return service;
}

/** How many steps the service has executed. */
function ask(service) {
  return new Promise((resolve, reject) => {
    service.once("message", resolve);
    service.send("steps?", (error) => error && reject(error));
  });
}

async function register(admin, servicePort) {
  const response = await fetch(`http://127.0.0.1:${admin}/deployments`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ uri: `http://127.0.0.1:${servicePort}` }),
  });
  if (!response.ok) throw new Error(`Restate does not take the service: ${await response.text()}`);
}

/** One request, by the plain client of Node: `fetch` costs several times the processor time. */
function post(agent, port, path) {
  return new Promise((resolve, reject) => {
    const outgoing = request({ agent, host: "127.0.0.1", port, path, method: "POST" }, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (text) => (body += text));
      response.on("error", reject);
      response.on("end", () => {
        if (response.statusCode === 200) resolve(JSON.parse(body));
        else reject(new Error(`Restate answered ${response.statusCode}: ${body}`));
      });
    });
    outgoing.on("error", reject);
    outgoing.end();
  });
}
