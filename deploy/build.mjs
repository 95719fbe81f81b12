// Compiles the program into dist/. With --if-changed, compiles only if the sources have changed since the last build.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

process.chdir(join(import.meta.dirname, ".."));

const PROJECT = "tsconfig.build.json";
const SELF = "deploy/build.mjs";
const BINARY = "dist/deploy/main.js";
const STATE = { digest: "dist/.source-digest", compiler: "dist/.tsbuildinfo" };

const folders = JSON.parse(readFileSync(PROJECT, "utf8")).include;
const sources = folders.flatMap(filesBelow).filter((path) => /\.tsx?$/.test(path));
const compiled = new Set(sources.map((path) => `dist/${path.replace(/tsx?$/, "js")}`));
const digest = digestOf([SELF, PROJECT, "tsconfig.json", "package-lock.json", ...sources]);

const isWanted = () => !process.argv.includes("--if-changed") || !isUpToDate();

if (isWanted()) {
  await waitForOtherBuilds();
  // Another process can have finished the build in the meantime.
  if (isWanted()) process.exitCode = build();
}

/** Compares contents, not times, so that a copy or another checkout of the same sources is up to date. */
function isUpToDate() {
  return readIfThere(STATE.digest) === digest && isComplete();
}

function build() {
  try {
    // Without the digest, a build that fails or is stopped is not taken for a complete build.
    rmSync(STATE.digest, { force: true });
    // With its state, the compiler would assume that the files of the last build still exist.
    if (!isComplete()) rmSync(STATE.compiler, { force: true });
    for (const path of filesBelow("dist")) if (isOrphan(path)) rmSync(path);
    const { status } = spawnSync(process.execPath, [compiler(), "--project", PROJECT], { stdio: "inherit" });
    if (status !== 0) return status ?? 1;
    chmodSync(BINARY, 0o755);
    writeFileSync(STATE.digest, digest);
    return 0;
  } catch (error) {
    if (!["EACCES", "EPERM", "EROFS"].includes(error.code)) throw error;
    process.stderr.write(
      `dist/ is older than its sources, and this user cannot write it: ${error.message}\n`,
    );
    return 1;
  }
}

/** Locks this file until the process ends: flock(2), which the kernel releases even after a SIGKILL. */
async function waitForOtherBuilds() {
  // In the build of an image, the native part of ffi-rs is missing, because it is an optional package. No lock is needed there,
  // because no other process builds at the same time.
  const ffi = await import("ffi-rs").catch(() => undefined);
  if (ffi === undefined) return;
  const { DataType, load, open } = ffi;
  const EXCLUSIVE = 2;
  open({ library: "process", path: "" });
  const { value, errnoMessage } = load({
    library: "process",
    funcName: "flock",
    retType: DataType.I32,
    paramsType: [DataType.I32, DataType.I32],
    paramsValue: [openSync(SELF, "r"), EXCLUSIVE],
    errno: true,
  });
  if (value !== 0) throw new Error(`flock failed: ${errnoMessage}`);
}

function isComplete() {
  return [...compiled].every((path) => existsSync(path));
}

/** Whether the source of a compiled file no longer exists. */
function isOrphan(path) {
  return /\.js(\.map)?$/.test(path) && !compiled.has(path.replace(/\.map$/, ""));
}

function compiler() {
  const manifest = createRequire(import.meta.url).resolve("typescript/package.json");
  return join(dirname(manifest), "bin/tsc");
}

function digestOf(paths) {
  const hash = createHash("sha256");
  for (const path of paths)
    hash
      .update(`${path}\0`)
      .update(readIfThere(path) ?? "")
      .update("\0");
  return hash.digest("hex");
}

function readIfThere(path) {
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

function filesBelow(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
