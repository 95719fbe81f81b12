import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseConfig, type Config } from "../config/config.js";
import { loadSecretKey } from "../config/secret-key.js";
import { readRunningEndpoints, type Endpoints } from "../data-dir/data-dir.js";
import { StartFailure } from "../process/start-failure.js";
import type { EventLogSource } from "../stores/open-event-log.js";
import type { AdminStores } from "./administer.js";

/**
 * The databases that an instance with this environment has or would have: those of the URLs in it, else those of
 * the instance running on DATA_DIR, else the embedded PostgreSQL, started for the moment. Throws StartFailure.
 */
export async function openAdminStores(env: Record<string, string | undefined>): Promise<AdminStores> {
  const config = parseConfig(env);
  const running = (await readRunningEndpoints(config.dataDir)) ?? {};
  const postgresUrl = config.databaseUrl ?? running.postgres;
  if (postgresUrl !== undefined) return openRunning(config, { ...running, postgres: postgresUrl });
  // Loaded here: beside a running server no command needs what starts one.
  const { startAdminStores } = await import("./start-admin-stores.js");
  return startAdminStores(config, logSourceOf(config));
}

/** The key is the server's: it is never made here, where it would open nothing. */
async function openRunning(
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

function logSourceOf({ kafka, dataDir }: Config): EventLogSource {
  return kafka === undefined ? { dir: join(dataDir, "log") } : { kafka };
}
