import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseConfig, type Config } from "../config/config.js";
import { loadSecretKey } from "../config/secret-key.js";
import { openDataDir, readRunningEndpoints, type Endpoints } from "../data-dir/data-dir.js";
import { ClosingStack } from "../process/closing-stack.js";
import { createLog } from "../process/log.js";
import { StartFailure } from "../process/start-failure.js";
import { prepareClickHouse } from "../stores/clickhouse/prepare-clickhouse.js";
import { startClickHouse } from "../stores/embedded/clickhouse/clickhouse.js";
import { startPostgres } from "../stores/embedded/postgres/postgres.js";
import type { EventLogSource } from "../stores/open-event-log.js";
import { embeddedUrl } from "../stores/open-stores.js";

/** The databases to administer, until closed. */
export interface AdminStores extends AsyncDisposable {
  readonly postgresUrl: string;
  /** Absent when it is an embedded one that does not run at the moment. */
  readonly clickhouseUrl: string | undefined;
  readonly secretKey: Buffer;
  /** An embedded one may not be there. */
  readonly logSource: EventLogSource;
  /** The URL of a ClickHouse that runs: where it is an embedded one that does not, it is started for the moment. */
  runClickHouse(): Promise<string>;
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
  const clickhouseUrl = config.clickhouseUrl ?? clickhouse;
  return {
    postgresUrl: postgres,
    clickhouseUrl,
    secretKey,
    logSource: logSourceOf(config),
    async runClickHouse() {
      if (clickhouseUrl !== undefined) return clickhouseUrl;
      throw new StartFailure(
        "ClickHouse does not run: start the server on this DATA_DIR, or give its CLICKHOUSE_URL.",
      );
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}

async function startEmbedded(config: Config): Promise<AdminStores> {
  const dataDir = await openDataDir(config.dataDir);
  try {
    const secretKey = await loadSecretKey({ fromConfig: config.secretKey, dataDir, required: false });
    const log = createLog({ level: "warn" });
    const postgres = await startPostgres({ dir: dataDir.sub("postgres"), log });
    const open = new ClosingStack();
    open.use(dataDir);
    open.use(postgres);
    return {
      postgresUrl: postgres.url,
      clickhouseUrl: config.clickhouseUrl,
      secretKey,
      logSource: logSourceOf(config),
      async runClickHouse() {
        if (config.clickhouseUrl !== undefined) return config.clickhouseUrl;
        const clickhouse = open.use(await startClickHouse({ dir: dataDir.sub("clickhouse"), log }));
        const url = embeddedUrl(clickhouse);
        await prepareClickHouse(url);
        return url;
      },
      // The directory is given up only once nothing runs on it.
      [Symbol.asyncDispose]: () => open[Symbol.asyncDispose](),
    };
  } catch (error) {
    await dataDir[Symbol.asyncDispose]();
    throw error;
  }
}

function logSourceOf({ kafka, dataDir }: Config): EventLogSource {
  return kafka === undefined ? { dir: join(dataDir, "log") } : { kafka };
}
