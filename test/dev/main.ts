// npm run dev: the service from the sources, restarted at each change, while its stores keep running in this process.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { transformSync } from "esbuild";
import { loadSecretKey } from "../../deploy/process/secret-key.js";
import { openDataDir } from "../../deploy/process/data-dir.js";
import { stopSignal } from "../../deploy/process/lifecycle.js";
import { createLog } from "../../deploy/process/log.js";
import { runAsProgram } from "../../deploy/process/run-as-program.js";
import { startClickHouse } from "../../deploy/stores/embedded/clickhouse/clickhouse.js";
import { startPostgres } from "../../deploy/stores/embedded/postgres/postgres.js";
import { embeddedUrl } from "../../deploy/stores/open-stores.js";
import { startRepeating } from "../../schemas/async/pause.js";

const ROOT = join(import.meta.dirname, "../..");
const FOLDERS = ["api", "aggregate", "deploy", "enrich", "ingest", "schemas"];
/** Files are looked at this often: a watch of a folder misses files that an editor replaces. */
const LOOK_MS = 150;
const SOURCE = /\.tsx?$/;

await runAsProgram(async () => {
  const stopped = stopSignal();
  await using dataDir = await openDataDir(process.env["DATA_DIR"] ?? "data-dev");
  const log = createLog({ level: "warn" });
  process.stdout.write(`Starting PostgreSQL and ClickHouse in ${dataDir.path}; they run until Ctrl-C ...\n`);
  await using postgres = await startPostgres({ dir: dataDir.sub("postgres"), log });
  await using clickhouse = await startClickHouse({ dir: dataDir.sub("clickhouse"), log });
  const env = {
    LOG_LEVEL: "warn",
    ADMIN_COMMAND: `DATA_DIR=${dataDir.sub("service")} SECRET_KEY=$(cat ${join(dataDir.path, "secret-key")}) npm run admin --`,
    ...process.env,
    DATA_DIR: dataDir.sub("service"),
    DATABASE_URL: postgres.url,
    CLICKHOUSE_URL: embeddedUrl(clickhouse),
    SECRET_KEY: (await loadSecretKey({ dataDir, required: false })).toString("base64"),
  };
  let seen = writtenAt();
  let service = startService(env);
  const restarting = startRepeating(
    async () => {
      const now = writtenAt();
      const changed = [...now].flatMap(([file, time]) => (seen.get(file) === time ? [] : [file]));
      const isLess = [...seen.keys()].some((file) => !now.has(file));
      seen = now;
      if (changed.length === 0 && !isLess) return;
      if (!rebuild(changed)) return;
      await end(service);
      service = startService(env);
    },
    { everyMs: LOOK_MS, onFailure: (error) => log.error(error) },
  );
  await Promise.race([stopped, postgres.exited, clickhouse.exited]);
  await restarting[Symbol.asyncDispose]();
  await end(service);
});

/** When each file was written, in ms, by its path below ROOT. */
function writtenAt(): Map<string, number> {
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((file) => join(folder, file)),
  );
  const stats = files.map((file) => [file, statSync(join(ROOT, file), { throwIfNoEntry: false })] as const);
  return new Map(stats.flatMap(([file, stat]) => (stat?.isFile() ? [[file, stat.mtimeMs] as const] : [])));
}

function startService(env: NodeJS.ProcessEnv): ChildProcess {
  return spawn(join(ROOT, "dist/deploy/main.js"), ["start"], { env, stdio: "inherit" });
}

/** At once: what a kill interrupts, the next start repairs, as after a crash. */
async function end(service: ChildProcess): Promise<void> {
  if (service.exitCode !== null || service.signalCode !== null) return;
  service.kill("SIGKILL");
  await once(service, "exit");
}

/**
 * Whether the changed sources compile. The compiler prints what is wrong, and the service that runs stays. A file that
 * has been compiled before is compiled alone: the whole program takes a second. Types are not checked.
 */
function rebuild(files: readonly string[]): boolean {
  const sources = files.filter((file) => SOURCE.test(file));
  return sources.every(isCompiled) ? sources.every(compile) : build();
}

function compiledPath(source: string): string {
  return join(ROOT, "dist", source.replace(SOURCE, ".js"));
}

function isCompiled(source: string): boolean {
  return existsSync(join(ROOT, source)) && existsSync(compiledPath(source));
}

function compile(source: string): boolean {
  const path = join(ROOT, source);
  try {
    const { code } = transformSync(readFileSync(path, "utf8"), {
      loader: source.endsWith("x") ? "tsx" : "ts",
      format: "esm",
      target: "es2022",
      jsx: "automatic",
      jsxImportSource: "preact",
      sourcemap: "inline",
      sourcefile: relative(join(compiledPath(source), ".."), path),
    });
    writeFileSync(compiledPath(source), code);
    return true;
  } catch (error) {
    process.stderr.write(`${source}: ${(error as Error).message}\n`);
    return false;
  }
}

function build(): boolean {
  return (
    spawnSync(process.execPath, ["deploy/build.mjs", "--if-changed"], { cwd: ROOT, stdio: "inherit" })
      .status === 0
  );
}
