// Other people's software, by the names of its packages: from npm into the cache folder, never into this
// repository, and from Debian if the program is not there yet. Registries are those of the machine.

import { execFile, execFileSync } from "node:child_process";
import { accessSync, constants, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";

const NODE_VERSION = "22.23.3";

const run = promisify(execFile);

/**
 * Packages of npm in one folder of the cache, and a `require` that finds them.
 *
 * @param {string} cache
 * @param {string} folderName
 * @param {Record<string, string>} wanted names and versions
 */
export async function npmPackages(cache, folderName, wanted) {
  const folder = join(cache, folderName);
  mkdirSync(folder, { recursive: true });
  const manifest = join(folder, "package.json");
  writeFileSync(manifest, JSON.stringify({ private: true, dependencies: wanted }));
  const names = Object.keys(wanted);
  if (!names.every((name) => installedVersion(folder, name) === wanted[name])) {
    // Install scripts are of no use here; some report who installs.
    const args = ["install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts"];
    try {
      await run("npm", args, { cwd: folder });
    } catch (error) {
      throw new Error(`npm could not install ${names.join(", ")}: ${error.stderr?.trim() || error.message}`);
    }
  }
  return { folder, require: createRequire(manifest), versions: wanted };
}

/** The Node that executes the engines' SDKs: the same wherever this is run, and new enough for each of them. */
export async function nodeProgram(cache) {
  const name = `node-linux-${process.arch}`;
  const { folder } = await npmPackages(cache, "node", { [name]: NODE_VERSION });
  return join(folder, "node_modules", name, "bin", "node");
}

function installedVersion(folder, name) {
  try {
    return JSON.parse(readFileSync(join(folder, "node_modules", name, "package.json"), "utf8")).version;
  } catch {
    return null;
  }
}

/** The path of a program; Debian's package is installed if there is none. */
export async function programOfPackage(program, packageName, folders = []) {
  const found = findProgram(program, folders);
  if (found) return found;
  const install = ["apt-get", "install", "--yes", "--no-install-recommends", packageName];
  const [command, ...args] = process.getuid() === 0 ? install : ["sudo", "-n", ...install];
  try {
    // RUNLEVEL 1 keeps Debian from starting the service that the package brings: we start our own.
    await run(command, args, { env: { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" } });
  } catch (error) {
    const why = error.stderr?.trim().split("\n").at(-1) || error.message;
    throw new Error(`${program} is not there and Debian's ${packageName} could not be installed: ${why}`);
  }
  const installed = findProgram(program, folders);
  if (!installed) throw new Error(`Debian's ${packageName} is installed but has no ${program}`);
  return installed;
}

function findProgram(program, folders) {
  const places = [...folders, ...(process.env.PATH ?? "").split(":"), "/usr/sbin"];
  return places.map((place) => join(place, program)).find(isExecutable);
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Where Debian keeps the programs of PostgreSQL: one folder per version, newest first. */
export function postgresFolders() {
  const versions = "/usr/lib/postgresql";
  try {
    const newestFirst = readdirSync(versions).sort((a, b) => Number(b) - Number(a));
    return newestFirst.map((version) => join(versions, version, "bin"));
  } catch {
    return [];
  }
}

/** What a program says of its version: the first number with a dot in it. */
export function versionOf(program, args = ["--version"]) {
  const said = execFileSync(program, args, { encoding: "utf8" });
  return said.match(/\d+\.[\w.-]+/)?.[0] ?? said.trim();
}
