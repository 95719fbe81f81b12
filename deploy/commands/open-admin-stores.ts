import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Config, parseConfig } from "../config/config.js";
import { checkTlsFiles } from "../process/tls-files.js";
import { loadSecretKey } from "../process/secret-key.js";
import { type Endpoints, browsableUrl, readRunningEndpoints } from "../process/data-dir.js";
import { isLocked } from "../process/lock-file.js";
import { StartFailure } from "../process/start-failure.js";
import { type ClickHouseSource, clickhouseSource } from "../stores/clickhouse/clickhouse-source.js";
import type { EventLogSource } from "../stores/open-event-log.js";
import type { AdminStores } from "./administer.js";

export interface OpenAdminStores {
  env: Record<string, string | undefined>;
  isNew: boolean;
  note: (line: string) => void;
}

/**
 * The databases of the URLs, else those of the instance that runs on DATA_DIR, else the embedded PostgreSQL,
 * started for the time of the command. Throws StartFailure.
 */
export async function openAdminStores({ env, isNew, note }: OpenAdminStores): Promise<AdminStores> {
  const config = parseConfig(env);
  checkTlsFiles(config.tlsFiles);
  const running = (await readRunningEndpoints(config.dataDir)) ?? {};
  const postgresUrl = config.databaseUrl ?? running.postgres;
  const dataDir = resolve(config.dataDir);
  if (config.databaseUrl === undefined && postgresUrl !== undefined)
    note(`Using DATA_DIR ${dataDir} (service is running).`);
  if (postgresUrl !== undefined) return openRunning(config, { ...running, postgres: postgresUrl });
  if (!isNew) requireData(dataDir);
  note(`Using DATA_DIR ${dataDir} (service is not running).`);
  // Imported only here, because commands beside a running server do not need the modules that start stores.
  const { startAdminStores } = await import("./start-admin-stores.js");
  return startAdminStores(config, logSourceOf(config));
}

/** A mistyped or forgotten DATA_DIR must not become a second, empty installation, with tokens that no service takes. */
function requireData(dataDir: string): void {
  // A service that is starting may have none yet: opening the directory names its process.
  if (existsSync(join(dataDir, "postgres")) || isLocked(join(dataDir, "lock"))) return;
  throw new StartFailure(
    `DATA_DIR ${dataDir} has no data of this service, and the service is not running on it. Set DATA_DIR to the service's, ` +
      "start the service first, or add --new to create an installation there.",
  );
}

/** Loads the server's key. Never creates one here, because a new key could not decrypt anything. */
async function openRunning(
  config: Config,
  { api, postgres, clickhouse }: Endpoints & { postgres: string },
): Promise<AdminStores> {
  const secretKey = await loadSecretKey({
    fromConfig: config.secretKey,
    dataDir: { path: config.dataDir },
    required: config.databaseUrl !== undefined || !existsSync(join(config.dataDir, "secret-key")),
  });
  const source = sourceOf(config, clickhouse);
  return {
    postgresUrl: postgres,
    apiUrl: api && browsableUrl(api),
    publicUrl: config.publicUrl,
    clickhouseSource: source,
    secretKey,
    logSource: logSourceOf(config),
    async runClickHouse() {
      if (source !== undefined) return source;
      throw new StartFailure(
        "ClickHouse is not running. Start the service on this DATA_DIR, or set CLICKHOUSE_URL.",
      );
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}

function sourceOf(config: Config, running: string | undefined): ClickHouseSource | undefined {
  if (config.clickhouseUrl !== undefined) return clickhouseSource(config);
  return running === undefined ? undefined : { url: running };
}

function logSourceOf({ kafka, dataDir }: Config): EventLogSource {
  return kafka === undefined ? { dir: join(dataDir, "log") } : { kafka };
}
