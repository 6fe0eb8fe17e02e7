// DBOS on a PostgreSQL server of its own. The workflow, the SDK and the load are one process, as an
// application with DBOS is.

import { execFileSync } from "node:child_process";
import { chownSync, mkdirSync } from "node:fs";
import { join } from "node:path";

import { measureLoad, PAYLOAD, STEPS_PER_RUN } from "../load.mjs";
import { npmPackages, postgresFolders, programOfPackage, versionOf } from "../packages.mjs";
import { freePort, startServer, userNamed } from "../server.mjs";

const PACKAGES = { "@dbos-inc/dbos-sdk": "5.3.0" };
const DURABLE = { fsync: "on", full_page_writes: "on", synchronous_commit: "on" };
const CONNECTIONS = 20;

export const name = "dbos";
export const title = "DBOS on PostgreSQL";

export async function install({ cache }) {
  const packages = await npmPackages(cache, name, PACKAGES);
  const postgres = await programOfPackage("postgres", "postgresql", postgresFolders());
  return { ...packages, postgres, versions: { ...packages.versions, postgresql: versionOf(postgres) } };
}

export async function start({ installed, place }) {
  const { url, server } = await startPostgres(installed.postgres, place);
  const { DBOS } = installed.require("@dbos-inc/dbos-sdk");
  const stop = async () => {
    try {
      if (DBOS.isInitialized()) await DBOS.shutdown();
    } finally {
      await server.stop();
    }
  };
  try {
    let steps = 0;
    const tenSteps = DBOS.registerWorkflow(
      async () => {
        let bytes = 0;
        for (let index = 0; index < STEPS_PER_RUN; index += 1) {
          const step = async () => {
            steps += 1;
            return PAYLOAD;
          };
          bytes += (await DBOS.runStep(step, { name: `step-${index}` })).length;
        }
        return bytes;
      },
      { name: "tenSteps" },
    );
    DBOS.setConfig({
      name: "bench",
      systemDatabaseUrl: url,
      systemDatabasePoolSize: CONNECTIONS,
      logLevel: "error",
    });
    await DBOS.launch();
    return {
      settings: { ...DURABLE, systemDatabasePoolSize: CONNECTIONS },
      guarantee: "yes: each result is a transaction of PostgreSQL, committed before the next step",
      measure: (workload) => measureLoad({ run: tenSteps, stepsDone: () => steps }, workload),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startPostgres(postgres, place) {
  const folder = join(place, name);
  mkdirSync(folder);
  // PostgreSQL refuses to run as root.
  const user = process.getuid() === 0 ? userNamed("postgres") : undefined;
  if (user) chownSync(folder, user.uid, user.gid);
  const data = join(folder, "data");
  const init = ["-D", data, "--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-locale"];
  execFileSync(postgres.replace(/postgres$/, "initdb"), init, { cwd: folder, stdio: "pipe", ...user });
  const port = await freePort();
  const settings = {
    ...DURABLE,
    port,
    listen_addresses: "127.0.0.1",
    unix_socket_directories: folder,
    max_connections: 100,
  };
  const args = Object.entries(settings).flatMap(([key, value]) => ["-c", `${key}=${value}`]);
  const server = await startServer({
    name: "postgres",
    program: postgres,
    args: ["-D", data, ...args],
    folder,
    ports: [port],
    user,
    // Its "fast" shutdown, which does not wait for clients.
    stopSignal: "SIGINT",
  });
  return { url: `postgresql://postgres@127.0.0.1:${port}/bench`, server };
}
