import { Command } from "commander";
import type { Pool } from "pg";
import { assignNpmName } from "../../api/features/packages/npm-names.js";
import { switchExport } from "../../api/features/exports/export-grants.js";
import { createTokenCipher } from "../../api/base/identity/tokens.js";
import { checkSecretKey } from "../../api/base/postgres/secret-key.js";
import { migratePostgres } from "../../api/base/postgres/migrate-postgres.js";
import { ClosingStack } from "../process/closing.js";
import { createLog } from "../process/log.js";
import type { ClickHouseSource } from "../stores/clickhouse/clickhouse-source.js";
import { connectPostgres } from "../stores/connect-postgres.js";
import { accountCommands } from "./admin-accounts.js";
import { backupCommands } from "./admin-backup.js";
import { deadLettersCommand } from "./admin-dead-letters.js";
import { drainCommand } from "./admin-drain.js";
import { funnelCommand } from "./admin-funnel.js";
import {
  type AdminProcess,
  type Administer,
  type Administered,
  sentenceOf,
  thisProcess,
} from "./administer.js";
import { listCommands } from "./admin-lists.js";
import { type OpenAdminStores, openAdminStores } from "./open-admin-stores.js";

/**
 * Works with or without a running server. Results go to standard output. A failure is one sentence on
 * standard error and exit status 1.
 */
export function adminCommand(process: AdminProcess = thisProcess()): Command {
  const admin = new Command("admin")
    .option("--new", "create a new installation if DATA_DIR has no data yet")
    .addHelpText(
      "after",
      "\nThe commands use the same environment variables as `start`: DATABASE_URL if it is set, otherwise DATA_DIR.\nChanges are " +
        "recorded in the owner's audit log with the operator as actor.",
    );
  const administer = administrator(process, () => admin.opts<{ new?: true }>().new === true);
  for (const command of [
    ...accountCommands(administer, process),
    ...exportCommands(administer),
    migrateCommand(administer),
    deadLettersCommand(administer),
    drainCommand(administer, process),
    funnelCommand(administer),
    npmNameCommand(administer),
    ...listCommands(administer),
    ...backupCommands(process),
  ])
    admin.addCommand(command);
  return admin;
}

function exportCommands(administer: Administer): Command[] {
  return [
    new Command("grant-export")
      .description("Enable data export for a user or organization.")
      .argument("<owner>")
      .action((owner: string) =>
        administer(({ pg }) => grantLines(pg, { name: owner, exportEnabled: true })),
      ),
    new Command("revoke-export")
      .description("Disable data export for a user or organization.")
      .argument("<owner>")
      .action((owner: string) =>
        administer(({ pg }) => grantLines(pg, { name: owner, exportEnabled: false })),
      ),
  ];
}

function migrateCommand(administer: Administer): Command {
  return new Command("migrate")
    .description("Migrate PostgreSQL and ClickHouse to this version. Every start does this too.")
    .action(() => administer(({ pg, clickhouseSource }) => migrateLines(pg, clickhouseSource)));
}

/** PostgreSQL is migrated before every command. */
async function migrateLines(lock: Pool, source: ClickHouseSource | undefined): Promise<string[]> {
  const postgres = "PostgreSQL is up to date.";
  if (source === undefined)
    return [postgres, "The embedded ClickHouse will be migrated when the service starts."];
  const { prepareServers } = await import("../stores/clickhouse/prepare-clickhouse.js");
  const unavailable = await prepareServers(source, { lock });
  if (unavailable.length > 0)
    throw new Error(
      "These ClickHouse servers do not respond, or are still fetching data from their shard: " +
        `${unavailable.join(", ")}. All others are up to date.`,
    );
  return [postgres, "ClickHouse is up to date."];
}

/** Prints before closing the databases, so that a failure to close does not lose a new token. */
function administrator({ print, fail, ...from }: AdminProcess, isNew: () => boolean): Administer {
  return async (work) => {
    try {
      await onDatabase({ ...from, isNew: isNew() }, async (deps) => {
        for (const line of await work(deps)) print(line);
      });
    } catch (error) {
      fail(sentenceOf(error));
    }
  };
}

async function onDatabase(from: OpenAdminStores, work: (deps: Administered) => Promise<void>): Promise<void> {
  await using stores = await openAdminStores(from);
  const tokens = createTokenCipher(stores.secretKey);
  const log = createLog({ level: "error" });
  await using open = new ClosingStack();
  const pg = connectPostgres({ url: stores.postgresUrl, connectionsMax: 1, log });
  open.defer(() => pg.end());
  await migratePostgres(pg);
  await checkSecretKey(pg, tokens);
  const { apiUrl, publicUrl, clickhouseSource, logSource } = stores;
  const openClickHouse = async () => {
    const { connectShards } = await import("../stores/clickhouse/connect-shards.js");
    return open.use(connectShards(await stores.runClickHouse()));
  };
  await work({ pg, tokens, apiUrl, publicUrl, clickhouseSource, logSource, openClickHouse });
}

async function grantLines(pg: Pool, change: { name: string; exportEnabled: boolean }): Promise<string[]> {
  const name = await switchExport(pg, change);
  return [change.exportEnabled ? `Export enabled for ${name}.` : `Export disabled for ${name}.`];
}

function npmNameCommand(administer: Administer): Command {
  return new Command("assign-npm-name")
    .description(
      "Count the install reports of an npm package for this owner only, even if others have a package " +
        "with that name.",
    )
    .argument("<name>", "name on npm, such as @acme/web")
    .argument("<owner>", "user or organization")
    .action((name: string, owner: string) =>
      administer(async ({ pg }) => {
        await assignNpmName(pg, { name, owner });
        return [];
      }),
    );
}
