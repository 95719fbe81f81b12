// npm run dev: the service from the sources, restarted at each change, while its stores keep running in this process.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, watch, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { transformSync } from "esbuild";
import { loadSecretKey } from "../../deploy/config/secret-key.js";
import { openDataDir } from "../../deploy/process/data-dir.js";
import { stopSignal } from "../../deploy/process/lifecycle.js";
import { createLog } from "../../deploy/process/log.js";
import { runAsProgram } from "../../deploy/process/run-as-program.js";
import { startClickHouse } from "../../deploy/stores/embedded/clickhouse/clickhouse.js";
import { startPostgres } from "../../deploy/stores/embedded/postgres/postgres.js";
import { embeddedUrl } from "../../deploy/stores/open-stores.js";
import { pause, startRepeating } from "../../schemas/async/pause.js";
import { WakeUp } from "../../schemas/async/wake-up.js";
import { DAY_MS } from "../../schemas/date-range.js";

const ROOT = join(import.meta.dirname, "../..");
const FOLDERS = ["api", "aggregate", "deploy", "enrich", "ingest", "schemas"];
/** Editors write a file in several steps, and a checkout writes many. */
const SETTLED_MS = 50;
/** The service reads these for each request. */
const READ_AT_ONCE = /\.(css|md|png|svg)$/;
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
  const changed = new Set<string>();
  const wakeUp = new WakeUp();
  const watchers = FOLDERS.map((folder) =>
    watch(join(ROOT, folder), { recursive: true }, (_, name) => {
      changed.add(join(folder, name ?? ""));
      wakeUp.ring();
    }),
  );
  let service = startService(env);
  const restarting = startRepeating(
    async (signal) => {
      await wakeUp.pause(DAY_MS, { signal });
      await pause(SETTLED_MS, { signal });
      const files = [...changed].filter((file) => !READ_AT_ONCE.test(file));
      changed.clear();
      if (signal.aborted || files.length === 0 || !rebuild(files)) return;
      await end(service);
      service = startService(env);
    },
    { everyMs: 0, onFailure: (error) => log.error(error) },
  );
  await Promise.race([stopped, postgres.exited, clickhouse.exited]);
  for (const watcher of watchers) watcher.close();
  await restarting[Symbol.asyncDispose]();
  await end(service);
});

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
