import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { switchExport } from "../../api/features/exports/export-grants.js";
import { createAccount } from "../../api/base/identity/accounts.js";
import { LINK_MINUTES, makeSignInLink, signInLinkUrl } from "../../api/base/identity/sign-in-links.js";
import { createTokenCipher } from "../../api/base/identity/tokens.js";
import { type Config, parseConfig } from "../config/config.js";
import { connectApi } from "../demo/api-client.js";
import { type DemoReceiver, openDemoReceiver } from "../demo/demo-webhooks.js";
import { startLiveEvents } from "../demo/live-events.js";
import { DEMO_HOST, type MainJobDone, runMainJob } from "../demo/main-job.js";
import { browsableUrl } from "../process/data-dir.js";
import { isFreePort } from "../process/free-port.js";
import { stopSignal } from "../process/lifecycle.js";
import { createLog } from "../process/log.js";
import { type Running, start } from "../roles/start.js";
import { wholeNumber } from "./whole-number.js";

export interface DemoOptions {
  /** Exit at the end instead of running until Ctrl-C. */
  exit: boolean;
  /** Print each step with its results. Always with `exit`: there is no dashboard to look at afterwards. */
  verbose: boolean;
  events: number;
  seed: number;
}

const ORGANIZATION = "acme";

/** `demo`: a tour with generated data, on a temporary data directory. */
export function demoCommand(): Command {
  return new Command("demo")
    .option("--exit", "exit with status 0 when the demo is done", false)
    .option(
      "--verbose",
      "print each step, with aggregates, CSV and curl commands to try (implied by --exit)",
      false,
    )
    .option("--events <count>", "number of events to import", wholeNumber, 100_000)
    .option("--seed <number>", "seed of the event generator", wholeNumber, 1)
    .action(runDemo);
}

/** Starts the whole program, does the main job over HTTP, and removes its data. */
async function runDemo({ exit, verbose, events, seed }: DemoOptions): Promise<void> {
  const stopped = stopSignal();
  await using directory = await temporaryDirectory();
  const config = await demoConfig(directory.path);
  print(`Starting PostgreSQL, ClickHouse and the service in ${directory.path} ...\n`);
  await using receiver = await openDemoReceiver();
  await using running = await start(config, createLog({ level: config.logLevel }));
  const mainJob = showMainJob(running, {
    exit,
    verbose: verbose || exit,
    events,
    seed,
    receiver: allowed(receiver, config),
  });
  const done = await Promise.race([mainJob, stopped, running.lost]);
  if (typeof done === "string" || done instanceof Error) return rethrow(done);
  if (exit) return;
  const collectUrl = running.endpoints.collect ?? "";
  await using _live = startLiveEvents({ collectUrl, host: DEMO_HOST, pixel: done.pixel, seed });
  print("\nLive events arrive for the next hour. Press Ctrl-C to end the demo and delete its data.\n");
  rethrow(await Promise.race([stopped, running.lost]));
}

/** Webhooks reach this machine alone in a demo that nobody else can reach. */
function allowed(receiver: DemoReceiver, { webhooks }: Config): DemoReceiver | undefined {
  return webhooks.allowPrivateNetworks ? receiver : undefined;
}

async function showMainJob(
  running: Running,
  { exit, verbose, events, seed, receiver }: DemoOptions & { receiver: DemoReceiver | undefined },
): Promise<MainJobDone> {
  const apiUrl = running.endpoints.api ?? "";
  const { pg } = running.stores;
  const account = { username: "demo", email: "demo@example.org" };
  const tokens = createTokenCipher(running.secretKey);
  const token = await createAccount({ pg, tokens }, account);
  const grantExport = (name: string) => switchExport(pg, { name, exportEnabled: true });
  await grantExport(account.username);
  const detail = verbose ? print : () => undefined;
  detail(`Listening on ${apiUrl}. Created account ${account.username}.\n`);
  const job = {
    organization: ORGANIZATION,
    events,
    seed,
    now: Date.now(),
    print,
    detail,
    grantExport,
    receiver,
  };
  const done = await runMainJob(connectApi(apiUrl, token), job);
  detail(`\nTry it${exit ? ", while a demo without --exit is running" : ""}:\n\n`);
  const collectUrl = running.endpoints.collect ?? "";
  detail(tryCommands(done, { apiUrl, collectUrl, token, organization: ORGANIZATION }));
  if (!exit) {
    const link = signInLinkUrl(browsableUrl(apiUrl), await makeSignInLink({ pg, tokens }, account.username));
    print(
      `\nOpen the dashboard as ${account.username} (works once, within ${LINK_MINUTES} minutes):\n\n  ${link}\n`,
    );
  }
  return done;
}

function print(text: string): void {
  process.stdout.write(text);
}

/** A lost store is a failure; a signal is a normal end. */
function rethrow(reason: NodeJS.Signals | Error): void {
  if (reason instanceof Error) throw reason;
}

interface TemporaryDirectory extends AsyncDisposable {
  path: string;
}

async function temporaryDirectory(): Promise<TemporaryDirectory> {
  const path = await mkdtemp(join(tmpdir(), "maintainer-toolchain-demo-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Uses embedded stores and addresses of this machine, so that a demo never writes or leads to configured ones. */
async function demoConfig(dataDir: string): Promise<Config> {
  const {
    DATABASE_URL: _d,
    CLICKHOUSE_URL: _c,
    KAFKA_BROKERS: _k,
    SECRET_KEY: _s,
    ROLES: _r,
    PUBLIC_URL: _p,
    ...env
  } = process.env;
  const config = parseConfig({ LOG_LEVEL: "warn", ...env, DATA_DIR: dataDir });
  const { http, collect, metrics, webhooks, trustedProxies } = config;
  const allowPrivateNetworks = webhooks.allowPrivateNetworks || LOOPBACK.includes(http.host);
  return {
    ...config,
    webhooks: { allowPrivateNetworks },
    // Live events come from this machine, in the name of others.
    trustedProxies: [...trustedProxies, "127.0.0.1"],
    http: await onFreePort(http),
    collect: await onFreePort(collect),
    metrics: await onFreePort(metrics),
  };
}

const LOOPBACK = ["127.0.0.1", "::1", "localhost"];

/** Replaces a taken port with any free one. */
async function onFreePort<Address extends { port: number }>(address: Address): Promise<Address> {
  return (await isFreePort(address.port)) ? address : { ...address, port: 0 };
}

export interface TryOptions {
  apiUrl: string;
  collectUrl: string;
  token: string;
  organization: string;
}

export function tryCommands(
  { packages, range }: MainJobDone,
  { apiUrl, collectUrl, token, organization }: TryOptions,
): string {
  const query = `startDate=${range.startDate}&endDate=${range.endDate}`;
  const [first] = packages;
  const event = `{"$time":"${range.startDate}","$unique_id":"mine-1","$remote_address":"18.8.1.2","$user_agent":"curl/8.5.0"}`;
  const commands = [
    `TOKEN=${token}`,
    curl(`${apiUrl}/v1/organizations/${organization}/packages`),
    curl(`${apiUrl}/v1/organizations/${organization}/aggregates?${query}&breakdown=total,country`),
    `${curl(`${apiUrl}/v1/packages/${first?.uuid}/events/events.csv?${query}`)} --compressed`,
    `${curl(`${apiUrl}/v2/packages/${organization}/${first?.uuid}/import`)} \\\n    -H 'Content-Type: application/ndjson' --data-binary '${event}'`,
    curl(`${apiUrl}/v2/imports/${organization}`),
    curl(`${apiUrl}/v2/${organization}/companies?stage=ongoing-usage`),
    `curl -sSi '${collectUrl}/1.4.0/toolkit-cli.tgz' -H 'Host: ${DEMO_HOST}'    # a download, counted live`,
  ];
  return `${commands.map((command) => `  ${command}\n`).join("")}\nEvery operation: ${apiUrl}/docs\n`;
}

function curl(url: string): string {
  return `curl -sS --fail-with-body -w '\\n' -H "Authorization: Bearer $TOKEN" '${url}'`;
}
