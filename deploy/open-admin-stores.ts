import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseConfig, type Config } from "./config.js";
import { openDataDir, readRunningEndpoints, type Endpoints } from "./data-dir.js";
import { startPostgres } from "./embedded/postgres.js";
import { createLog } from "./log.js";
import type { EventLogSource } from "./open-event-log.js";
import { loadSecretKey } from "./secret-key.js";

/** The databases to administer, until closed. */
export interface AdminStores extends AsyncDisposable {
  readonly postgresUrl: string;
  /** Absent when it is an embedded one that does not run at the moment. */
  readonly clickhouseUrl: string | undefined;
  readonly secretKey: Buffer;
  /** An embedded one may not be there. */
  readonly logSource: EventLogSource;
}

/**
 * The databases that an instance with this environment has or would have: those of the URLs in it, else those of
 * the instance running on DATA_DIR, else the embedded PostgreSQL, started for the moment. Throws StartFailure.
 */
export async function openAdminStores(env: Record<string, string | undefined>): Promise<AdminStores> {
  const config = parseConfig(env);
  const running = (await readRunningEndpoints(config.dataDir)) ?? {};
  const postgresUrl = config.databaseUrl ?? running.postgres;
  if (postgresUrl === undefined) return startEmbedded(config);
  return external(config, { ...running, postgres: postgresUrl });
}

/** The key is the server's: it is never made here, where it would open nothing. */
async function external(
  config: Config,
  { postgres, clickhouse }: Endpoints & { postgres: string },
): Promise<AdminStores> {
  const secretKey = await loadSecretKey({
    fromConfig: config.secretKey,
    dataDir: { path: config.dataDir },
    required: config.databaseUrl !== undefined || !existsSync(join(config.dataDir, "secret-key")),
  });
  return {
    postgresUrl: postgres,
    clickhouseUrl: config.clickhouseUrl ?? clickhouse,
    secretKey,
    logSource: logSourceOf(config),
    [Symbol.asyncDispose]: async () => undefined,
  };
}

async function startEmbedded(config: Config): Promise<AdminStores> {
  const dataDir = await openDataDir(config.dataDir);
  try {
    const secretKey = await loadSecretKey({ fromConfig: config.secretKey, dataDir, required: false });
    const log = createLog({ level: "warn" });
    const postgres = await startPostgres({ dir: dataDir.sub("postgres"), log });
    return {
      postgresUrl: postgres.url,
      clickhouseUrl: config.clickhouseUrl,
      secretKey,
      logSource: logSourceOf(config),
      [Symbol.asyncDispose]: () => disposeInTurn(postgres, dataDir),
    };
  } catch (error) {
    await dataDir[Symbol.asyncDispose]();
    throw error;
  }
}

function logSourceOf({ kafka, dataDir }: Config): EventLogSource {
  return kafka === undefined ? { dir: join(dataDir, "log") } : { kafka };
}

/** The directory is given up only once nothing runs on it. */
async function disposeInTurn(postgres: AsyncDisposable, dataDir: AsyncDisposable): Promise<void> {
  try {
    await postgres[Symbol.asyncDispose]();
  } finally {
    await dataDir[Symbol.asyncDispose]();
  }
}
