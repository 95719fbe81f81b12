import { Command } from "commander";
import type { Pool } from "pg";
import { switchExport } from "../../api/exports/switch-export.js";
import { createAccount, rotateToken } from "../../api/identity/accounts.js";
import { createTokenCipher } from "../../api/identity/tokens.js";
import { listAccounts } from "../../api/stores/accounts/accounts.js";
import { checkSecretKey } from "../../api/stores/accounts/secret-key.js";
import { migratePostgres } from "../../api/stores/migrate-postgres.js";
import { Problem } from "../../schemas/problem.js";
import { ClosingStack } from "../process/closing-stack.js";
import { createLog } from "../process/log.js";
import { StartFailure } from "../process/start-failure.js";
import { connectPostgres } from "../stores/postgres/connect-postgres.js";
import { parkedCommand } from "./admin-dead-letters.js";
import { funnelCommand } from "./admin-funnel.js";
import type { Administer, Administered } from "./administer.js";
import { openAdminStores } from "./open-admin-stores.js";

/**
 * `admin <command>`: what an operator does beside a running server or without one. Results go to standard output,
 * a failure is one sentence on standard error and status 1.
 */
export function adminCommand({ env, print, fail }: AdminSurroundings = ofProcess()): Command {
  const administer = administrator({ env, print, fail });
  const admin = new Command("admin").addHelpText(
    "after",
    "\nReads the same environment as `start`: DATABASE_URL, or else DATA_DIR." +
      "\nEvery change is in the audit log of the owner that it concerns, as done by the operator.",
  );
  for (const command of [
    ...accountCommands(administer),
    ...exportCommands(administer),
    migrateCommand(administer),
    parkedCommand(administer),
    funnelCommand(administer),
  ])
    admin.addCommand(command);
  return admin;
}

/** What a command needs of the process that it runs in. */
export interface AdminSurroundings {
  env: Record<string, string | undefined>;
  /** Takes one line of the result. */
  print: (line: string) => void;
  /** Takes the sentence of a failure, after which the process ends with status 1. */
  fail: (sentence: string) => void;
}

function ofProcess(): AdminSurroundings {
  return {
    env: process.env,
    print: (line) => process.stdout.write(`${line}\n`),
    fail: (sentence) => {
      process.stderr.write(`${sentence}\n`);
      process.exitCode = 1;
    },
  };
}

function accountCommands(administer: Administer): Command[] {
  return [
    new Command("create-account")
      .description("Make an account and print its API token, alone, on standard output.")
      .requiredOption("--username <name>", "shared with organizations, compared without case")
      .requiredOption("--email <address>")
      .action((options: { username: string; email: string }) =>
        administer(async (deps) => [await createAccount(deps, options)]),
      ),
    new Command("rotate-token")
      .description("Give an account a new API token and print it; the old one is invalid at once.")
      .argument("<username>")
      .action((username: string) => administer(async (deps) => [await rotateToken(deps, username)])),
    new Command("list-accounts")
      .description("List every account: username, e-mail, time of creation and whether it may export.")
      .action(() => administer(({ pg }) => accountLines(pg))),
  ];
}

function exportCommands(administer: Administer): Command[] {
  return [
    new Command("grant-export")
      .description("Let a user or an organization export data.")
      .argument("<owner>")
      .action((owner: string) =>
        administer(({ pg }) => grantLines(pg, { name: owner, exportEnabled: true })),
      ),
    new Command("revoke-export")
      .description("Take the right to export data back.")
      .argument("<owner>")
      .action((owner: string) =>
        administer(({ pg }) => grantLines(pg, { name: owner, exportEnabled: false })),
      ),
  ];
}

function migrateCommand(administer: Administer): Command {
  return new Command("migrate")
    .description("Bring PostgreSQL and ClickHouse to this program's tables, as every start does by itself.")
    .action(() => administer(({ pg, clickhouseUrl }) => migrateLines(pg, clickhouseUrl)));
}

/** PostgreSQL was brought up to date before the command, as before every command. */
async function migrateLines(lock: Pool, clickhouseUrl: string | undefined): Promise<string[]> {
  const postgres = "PostgreSQL is up to date.";
  if (clickhouseUrl === undefined) return [postgres, "The embedded ClickHouse does so when it starts."];
  const { prepareClickHouse } = await import("../stores/clickhouse/prepare-clickhouse.js");
  await prepareClickHouse(clickhouseUrl, { lock });
  return [postgres, "ClickHouse is up to date."];
}

/** Prints before anything is closed: a token that was made must not be lost to a failure on the way out. */
function administrator({ env, print, fail }: AdminSurroundings): Administer {
  return async (work) => {
    try {
      await onDatabase(env, async (deps) => {
        for (const line of await work(deps)) print(line);
      });
    } catch (error) {
      fail(sentenceOf(error));
    }
  };
}

async function onDatabase(
  env: AdminSurroundings["env"],
  work: (deps: Administered) => Promise<void>,
): Promise<void> {
  await using stores = await openAdminStores(env);
  const tokens = createTokenCipher(stores.secretKey);
  const log = createLog({ level: "error" });
  await using open = new ClosingStack();
  const pg = connectPostgres({ url: stores.postgresUrl, connectionsMax: 1, log });
  open.defer(() => pg.end());
  await migratePostgres(pg);
  await checkSecretKey(pg, tokens);
  const { clickhouseUrl, logSource } = stores;
  const openClickHouse = async () => {
    const { connectClickHouse } = await import("../stores/clickhouse/connect-clickhouse.js");
    const clickhouse = connectClickHouse(await stores.runClickHouse());
    open.defer(() => clickhouse.close());
    return clickhouse;
  };
  await work({ pg, tokens, clickhouseUrl, logSource, openClickHouse });
}

async function grantLines(pg: Pool, change: { name: string; exportEnabled: boolean }): Promise<string[]> {
  await switchExport(pg, change);
  return [];
}

async function accountLines(pg: Pool): Promise<string[]> {
  const accounts = await listAccounts(pg);
  return accounts.map(({ username, email, createdAt, exportEnabled }) =>
    [username, email, createdAt, exportEnabled ? "export" : "no-export"].join("\t"),
  );
}

/** A failure's own words and, unless the operator brought it about, those of its cause. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const explained = error instanceof StartFailure || (error instanceof Problem && error.status < 500);
  const cause = !explained && error.cause instanceof Error ? ` (${sentenceOf(error.cause)})` : "";
  return (error.message || error.name) + cause;
}
