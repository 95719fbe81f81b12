import type { Config } from "../config/config.js";
import { loadSecretKey } from "../process/secret-key.js";
import { openDataDir } from "../process/data-dir.js";
import { ClosingStack } from "../process/closing.js";
import { createLog } from "../process/log.js";
import { clickhouseSource } from "../stores/clickhouse/clickhouse-source.js";
import { prepareClickHouse } from "../stores/clickhouse/prepare-clickhouse.js";
import { startClickHouse } from "../stores/embedded/clickhouse/clickhouse.js";
import { startPostgres } from "../stores/embedded/postgres/postgres.js";
import { embeddedUrl } from "../stores/open-stores.js";
import type { EventLogSource } from "../stores/open-event-log.js";
import type { AdminStores } from "./administer.js";

/** The embedded databases of a DATA_DIR on which no server runs, started for one command. */
export async function startAdminStores(config: Config, logSource: EventLogSource): Promise<AdminStores> {
  const given = config.clickhouseUrl === undefined ? undefined : clickhouseSource(config);
  const dataDir = await openDataDir(config.dataDir, { isCommand: true });
  try {
    const secretKey = await loadSecretKey({ fromConfig: config.secretKey, dataDir, required: false });
    const log = createLog({ level: "warn" });
    const postgres = await startPostgres({ dir: dataDir.sub("postgres"), log });
    const open = new ClosingStack();
    open.use(dataDir);
    open.use(postgres);
    return {
      postgresUrl: postgres.url,
      apiUrl: undefined,
      publicUrl: config.publicUrl,
      clickhouseSource: given,
      secretKey,
      logSource,
      async runClickHouse() {
        if (given !== undefined) return given;
        const clickhouse = open.use(await startClickHouse({ dir: dataDir.sub("clickhouse"), log }));
        const url = embeddedUrl(clickhouse);
        // Nobody else starts on the directory while this process has it.
        await prepareClickHouse(url, { lock: "alone" });
        return { url };
      },
      // Releases the directory last, when no server uses it.
      [Symbol.asyncDispose]: () => open[Symbol.asyncDispose](),
    };
  } catch (error) {
    await dataDir[Symbol.asyncDispose]();
    throw error;
  }
}
