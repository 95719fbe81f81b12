import { resolve } from "node:path";
import { Command } from "commander";
import type { Logger } from "pino";
import { LINK_MINUTES, makeSignInLink, signInLinkUrl } from "../../api/base/identity/sign-in-links.js";
import { countAccounts } from "../../api/base/identity/stored-accounts.js";
import { createTokenCipher } from "../../api/base/identity/tokens.js";
import { type Config, parseConfig } from "../config/config.js";
import { configurationHelp } from "./describe-variables.js";
import { browsableUrl } from "../process/data-dir.js";
import { limitMalloc } from "../process/libc.js";
import { garbageCollector, startDeadline, stopSignal } from "../process/lifecycle.js";
import { createLog } from "../process/log.js";
import { type Running, type Starting, beginStart } from "../roles/start.js";

const DRAIN_MS_MAX = 20_000;
const BREAK_OFF_MS_MAX = 3_000;

/** `start`: runs the configured roles until a signal, or until a store is lost. */
export function startCommand(): Command {
  return new Command("start")
    .addHelpText("after", `\nEnvironment variables\n\n${configurationHelp()}`)
    .action(runStart);
}

async function runStart(): Promise<void> {
  limitMalloc();
  const config = parseConfig(process.env);
  const log = createLog({ level: config.logLevel });
  const stop = stopSignal();
  process.stdout.write(`${startingLine(config)}\n`);
  const starting = beginStart(config, log);
  const running = await Promise.race([starting.running, stop.then(() => undefined)]);
  if (running === undefined) return breakOff(starting, log);
  // Loading the code left garbage behind.
  garbageCollector()();
  process.stdout.write(await greeting(running, config));
  const reason = await Promise.race([stop, running.lost]);
  log.info({ reason: String(reason) }, "stopping");
  using _deadline = startDeadline({
    timeoutMs: DRAIN_MS_MAX,
    onMissed: () => log.error(`not stopped after ${DRAIN_MS_MAX / 1000} s; exiting now`),
  });
  await running[Symbol.asyncDispose]();
  if (reason instanceof Error) throw reason;
}

async function breakOff(starting: Starting, log: Logger): Promise<void> {
  process.stdout.write("Stopping during startup.\n");
  // Stores that end now are no news.
  log.level = "silent";
  using _deadline = startDeadline({ timeoutMs: BREAK_OFF_MS_MAX });
  await starting.breakOff();
}

async function greeting(running: Running, config: Config): Promise<string> {
  const { endpoints, stores } = running;
  const lines = [
    ["API", endpoints.api],
    ["Collector", endpoints.collect],
    ["Metrics", endpoints.metrics && `${endpoints.metrics}/metrics`],
  ].flatMap(([name, url]) => (url === undefined ? [] : [`${name} listens on ${url}`]));
  if ((await countAccounts(stores.pg)) === 0) lines.push(...(await firstAccountLines(running, config)));
  return `${lines.join("\n")}\n`;
}

async function firstAccountLines(
  { endpoints, stores, secretKey }: Running,
  { adminCommand, publicUrl }: Config,
): Promise<string[]> {
  const command = `  ${adminCommand} create-account --username you --email you@example.org`;
  if (endpoints.api === undefined) return ["No account yet. Create one in another terminal:", command];
  const deps = { pg: stores.pg, tokens: createTokenCipher(secretKey) };
  const link = signInLinkUrl(publicUrl ?? browsableUrl(endpoints.api), await makeSignInLink(deps, undefined));
  return [
    `No account yet. Open this link to create the first one (works once, within ${LINK_MINUTES} minutes):`,
    `  ${link}`,
    `New link: ${adminCommand} sign-in-link. Without a browser:`,
    command,
  ];
}

/** The first line of a start, which takes seconds: `Starting PostgreSQL and ClickHouse in /srv/data, ...`. */
export function startingLine({ databaseUrl, clickhouseUrl, kafka, dataDir }: Config): string {
  const stores = [
    { name: "PostgreSQL", isEmbedded: databaseUrl === undefined },
    { name: "ClickHouse", isEmbedded: clickhouseUrl === undefined },
    { name: kafka === undefined ? "the event log" : "Kafka", isEmbedded: kafka === undefined },
  ];
  const own = listed(stores.filter(({ isEmbedded }) => isEmbedded));
  const others = listed(stores.filter(({ isEmbedded }) => !isEmbedded));
  const started = own === "" ? [] : [`starting ${own} in ${resolve(dataDir)}`];
  const connected = others === "" ? [] : [`connecting to ${others}`];
  const sentence = [...started, ...connected].join(", ");
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)} ...`;
}

function listed(stores: readonly { name: string }[]): string {
  const names = stores.map(({ name }) => name);
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1) ?? ""}`;
}
