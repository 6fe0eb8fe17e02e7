// @bluelibs/runner with its durable workflows: state in Redis, work handed out by RabbitMQ. The worker and
// the load are one process, as the package's embedded worker is meant to be used.

import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { measureLoad, PAYLOAD, STEPS_PER_RUN } from "../load.mjs";
import { npmPackages, programOfPackage, versionOf } from "../packages.mjs";
import { freePort, startServer } from "../server.mjs";

const PACKAGES = { "@bluelibs/runner": "5.5.0", amqplib: "0.10.9", ioredis: "5.11.1" };
const DURABLE = { appendonly: "yes", appendfsync: "always" };
// At least as many as are ever in flight; the default of 10 would execute ten runs at a time.
const PREFETCH = 1024;

/** Where Debian keeps the script that does not insist on the user `rabbitmq`. */
const RABBITMQ_SCRIPTS = ["/usr/lib/rabbitmq/bin"];

export const name = "bluelibs-runner";
export const title = "@bluelibs/runner on Redis and RabbitMQ";

export async function install({ cache }) {
  const packages = await npmPackages(cache, name, PACKAGES);
  const redis = await programOfPackage("redis-server", "redis-server");
  const rabbitmq = await programOfPackage("rabbitmq-server", "rabbitmq-server", RABBITMQ_SCRIPTS);
  const epmd = await programOfPackage("epmd", "erlang-base");
  const versions = { ...packages.versions, redis: versionOf(redis), rabbitmq: rabbitmqVersion() };
  return { ...packages, redis, rabbitmq, epmd, versions };
}

export async function start({ installed, place }) {
  const folder = join(place, name);
  mkdirSync(folder);
  const servers = [];
  let application;
  const stop = async () => {
    try {
      await application?.dispose();
    } finally {
      for (const server of servers.reverse()) await server.stop();
    }
  };
  try {
    const redisPort = await freePort();
    servers.push(await startRedis(installed.redis, folder, redisPort));
    const epmdPort = await freePort();
    servers.push(await startEpmd(installed.epmd, folder, epmdPort));
    const rabbitPort = await freePort();
    servers.push(await startRabbit(installed.rabbitmq, folder, rabbitPort, epmdPort));
    const made = await startApplication(installed, redisPort, rabbitPort);
    application = made.application;
    return {
      settings: { ...DURABLE, queue: "quorum, persistent messages", prefetch: PREFETCH },
      guarantee:
        "yes: Redis answers after fsync. The message that starts a run is not: RabbitMQ is not asked to confirm it",
      measure: (workload) => measureLoad(made, workload),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startApplication({ require, folder }, redisPort, rabbitPort) {
  // It looks for the clients of Redis and RabbitMQ from the current folder.
  process.chdir(folder);
  const { r, run } = require("@bluelibs/runner");
  const { redisDurableResource, durableWorkflowTag } = require("@bluelibs/runner/node");
  let steps = 0;
  const durable = redisDurableResource.fork("bench-durable");
  const tenSteps = r
    .task("bench-ten-steps")
    .tags([durableWorkflowTag])
    .dependencies({ durable })
    .run(async (_input, dependencies) => {
      const ctx = dependencies.durable.use();
      let bytes = 0;
      for (let index = 0; index < STEPS_PER_RUN; index += 1) {
        const result = await ctx.step(`step-${index}`, async () => {
          steps += 1;
          return PAYLOAD;
        });
        bytes += result.length;
      }
      return bytes;
    })
    .build();
  const registered = durable.with({
    redis: { url: `redis://127.0.0.1:${redisPort}` },
    queue: { url: `amqp://guest:guest@127.0.0.1:${rabbitPort}`, quorum: true, prefetch: PREFETCH },
    worker: true,
  });
  const app = r.resource("bench-app").register([registered, tenSteps]).build();
  const application = await run(app, { logs: { printThreshold: "error" } });
  const service = await application.getResourceValue(durable);
  const runOnce = async () => (await service.startAndWait(tenSteps)).data;
  return { application, run: runOnce, stepsDone: () => steps };
}

function startRedis(program, folder, port) {
  const settings = { ...DURABLE, port, dir: folder, bind: "127.0.0.1", save: "" };
  const args = Object.entries(settings).flatMap(([key, value]) => [`--${key}`, String(value)]);
  return startServer({ name: "redis", program, args, folder, ports: [port] });
}

/** The register of names that Erlang would otherwise start itself, and leave behind. */
function startEpmd(program, folder, port) {
  const args = ["-port", String(port), "-address", "127.0.0.1"];
  return startServer({ name: "epmd", program, args, folder, ports: [port] });
}

async function startRabbit(program, folder, port, epmdPort) {
  const plugins = join(folder, "enabled_plugins");
  writeFileSync(plugins, "[].\n");
  const env = {
    HOME: folder,
    ERL_EPMD_PORT: String(epmdPort),
    RABBITMQ_NODENAME: "bench@localhost",
    RABBITMQ_NODE_IP_ADDRESS: "127.0.0.1",
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_DIST_PORT: String(await freePort()),
    RABBITMQ_MNESIA_BASE: join(folder, "mnesia"),
    RABBITMQ_LOG_BASE: join(folder, "log"),
    RABBITMQ_PID_FILE: join(folder, "rabbitmq.pid"),
    RABBITMQ_ENABLED_PLUGINS_FILE: plugins,
    RABBITMQ_CONF_ENV_FILE: join(folder, "none"),
  };
  return startServer({ name: "rabbitmq", program, args: [], folder, ports: [port], env });
}

function rabbitmqVersion() {
  const args = ["--show", "--showformat=${Version}", "rabbitmq-server"];
  return execFileSync("dpkg-query", args, { encoding: "utf8" });
}
