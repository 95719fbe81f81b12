import { join } from "node:path";
import type { Logger } from "pino";
import { type TokenCipher, createTokenCipher } from "../../api/base/identity/tokens.js";
import { oldestErasure } from "../../api/features/erasures/client-erasures.js";
import { countDeadLetters } from "../../api/features/imports/dead-letters.js";
import { oldestStagedBatch } from "../../api/features/imports/settlements.js";
import { abortEveryUpload } from "../../api/features/imports/uploads.js";
import { checkSecretKey } from "../../api/base/postgres/secret-key.js";
import { SharedCount, WakeUp } from "../../schemas/async/wake-up.js";
import { clearSnapshotPlace } from "../backup/snapshot-place.js";
import type { Config } from "../config/config.js";
import { checkTlsFiles } from "../process/tls-files.js";
import { loadSecretKey } from "../process/secret-key.js";
import { createPipelineMetrics, createRegistry } from "../metrics/pipeline-metrics.js";
import { ClosingSet, ClosingStack } from "../process/closing.js";
import { type DataDir, type Endpoints, openDataDir } from "../process/data-dir.js";
import { StartFailure } from "../process/start-failure.js";
import { anyServerUrl } from "../stores/clickhouse/clickhouse-source.js";
import { endOrphans, isServerOf } from "../stores/embedded/find-servers.js";
import { type Stores, openStores } from "../stores/open-stores.js";
import { type Enrichment, readLookups, startEnrich } from "./enrich.js";
import { startJobs } from "./jobs.js";
import { roleChecks } from "./readiness.js";
import { requireSharedStores } from "./require-shared-stores.js";
import type { RoleParts } from "./role-parts.js";
import type { ListeningServer } from "./servers/listen.js";
import { startMetricsServer } from "./servers/start-metrics-server.js";
import { startNotificationSending } from "./start-notifications.js";
import { type Collect, startCollect } from "./start-collect.js";

/** A started program: its addresses, and how to stop it. */
export interface Running extends AsyncDisposable {
  endpoints: Endpoints;
  stores: Stores;
  secretKey: Buffer;
  /** Resolves with the reason when the program cannot continue. */
  lost: Promise<Error>;
  /** Drains: accepts nothing new, finishes the work in progress, then closes the stores. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** A start under way. */
export interface Starting {
  running: Promise<Running>;
  /** Gives up within a second or so. The caller exits next. */
  breakOff(): Promise<void>;
}

/** Begins to start the configured roles in this process. */
export function beginStart(config: Config, log: Logger): Starting {
  let locked: DataDir | undefined;
  const running = start(config, log, { onLocked: (dataDir) => (locked = dataDir) });
  return {
    running,
    async breakOff() {
      running.catch(() => undefined);
      // Nothing is to be done before the lock is ours: the servers of the directory are then another's.
      if (locked !== undefined) await breakOffStart(locked);
    },
  };
}

interface StartListeners {
  /** Called once this process has the data directory for itself. */
  onLocked?: (dataDir: DataDir) => void;
}

/** Starts the configured roles in this process. When a part fails to start, closes those that were opened before. */
export async function start(
  config: Config,
  log: Logger,
  { onLocked }: StartListeners = {},
): Promise<Running> {
  requireSharedStores(config);
  checkTlsFiles(config.tlsFiles);
  const open = new ClosingStack();
  try {
    const dataDir = open.use(await openDataDir(config.dataDir, { onWait: (sentence) => log.info(sentence) }));
    onLocked?.(dataDir);
    return await startRoles({ config, log, open }, dataDir);
  } catch (error) {
    await open[Symbol.asyncDispose]();
    throw error;
  }
}

type StartParts = Pick<RoleParts, "config" | "log" | "open">;

interface StartedRoles {
  enrichment?: Enrichment;
  collect?: Collect;
}

async function startRoles(starting: StartParts, dataDir: DataDir): Promise<Running> {
  const { config, open } = starting;
  clearSnapshotPlace(dataDir.path);
  // Takes a second, and so begins before the stores open.
  const lookups = config.roles.has("enrich") ? readLookups(config.lookups) : undefined;
  // Awaited later: an error now would leave stores that are still opening.
  lookups?.catch(() => undefined);
  const parts = await openParts(starting, dataDir);
  const { stores, secretKey } = parts;
  const endpoints: Endpoints = {
    postgres: stores.postgresUrl,
    clickhouse: anyServerUrl(stores.clickhouseSource),
  };
  const started: StartedRoles = {};
  // Opened first and so closed last: the metrics also cover the drain.
  endpoints.metrics = open.use(await startMetrics(parts, started)).url;
  const enrichmentParts = { ...parts, open: open.use(new ClosingStack()) };
  if (config.roles.has("jobs")) startJobs(parts);
  // A set, because both servers drain at the same time.
  const servers = open.use(new ClosingSet());
  const starts = [
    (async () => {
      if (lookups !== undefined) started.enrichment = await startEnrich(enrichmentParts, await lookups);
    })(),
    startServers(parts, { started, servers, endpoints }),
  ];
  // Also after a failure: what is still starting could not be closed.
  await Promise.allSettled(starts);
  await Promise.all(starts);
  // Last: links in messages may need the address of the API.
  if (config.roles.has("jobs")) open.use(startNotificationSending(parts, endpoints.api));
  await dataDir.writeEndpoints(endpoints);
  return {
    endpoints,
    stores,
    secretKey,
    lost: Promise.race([stores, started.enrichment, started.collect].flatMap((part) => part?.lost ?? [])),
    [Symbol.asyncDispose]: () => open[Symbol.asyncDispose](),
  };
}

async function startServers(
  parts: RoleParts,
  { started, servers, endpoints }: { started: StartedRoles; servers: ClosingSet; endpoints: Endpoints },
): Promise<void> {
  const { roles } = parts.config;
  if (roles.has("collect")) started.collect = servers.use(await startCollect(parts));
  if (started.collect !== undefined) endpoints.collect = started.collect.url;
  if (!roles.has("api")) return;
  // Half of the program's modules are its API and dashboard: other roles need not load them.
  const { startApi } = await import("./api.js");
  endpoints.api = servers.use(await startApi(parts, started.collect)).url;
}

async function openParts({ config, log, open }: StartParts, dataDir: DataDir): Promise<RoleParts> {
  const required = config.databaseUrl !== undefined;
  const secretKey = await loadSecretKey({ fromConfig: config.secretKey, dataDir, required });
  const stores = await openStores({ config, dataDir, log, open });
  const tokens = createTokenCipher(secretKey);
  await requireSameKey(stores, tokens);
  const registry = createRegistry();
  const metrics = createPipelineMetrics(registry, {
    eventLog: { lag: async (group) => (await stores.eventLog()).lag(group) },
    countDeadLetters: () => countDeadLetters(stores.pg),
    oldestErasure: () => oldestErasure(stores.pg),
    oldestStagedBatch: () => oldestStagedBatch(stores.pg),
  });
  // An embedded database serves this process alone, so uploads that it has on record ended with the last process.
  if (config.databaseUrl === undefined) metrics.countEnded("lost", await abortEveryUpload(stores.pg));
  const between = { chunksWritten: new WakeUp(), arriving: new SharedCount() };
  return { config, log, open, stores, secretKey, tokens, registry, metrics, ...between };
}

function startMetrics(
  { config, stores, registry }: RoleParts,
  started: Readonly<StartedRoles>,
): Promise<ListeningServer> {
  return startMetricsServer({
    ...config.metrics,
    checks: roleChecks(stores, config.roles, started),
    metrics: async () => (await registry.metrics()) + ((await started.collect?.metrics()) ?? ""),
  });
}

/** Refuses to start with another key than the database was made with: every token would be invalid. */
async function requireSameKey({ pg }: Stores, tokens: TokenCipher): Promise<void> {
  try {
    await checkSecretKey(pg, tokens);
  } catch (error) {
    throw new StartFailure((error as Error).message, { cause: error });
  }
}

/** Each takes no more than this in all: a start that is broken off ends within a second or so. */
const SIGNALS = [
  { signal: "SIGINT", patienceMs: 700 },
  { signal: "SIGQUIT", patienceMs: 300 },
  { signal: "SIGKILL", patienceMs: 1_000 },
] as const;

/**
 * Ends the embedded servers and gives the data directory free. What else was begun is left as by a crash,
 * from which the next start goes on.
 */
async function breakOffStart(dataDir: DataDir): Promise<void> {
  await Promise.allSettled([
    endOrphans(join(dataDir.path, "postgres"), {
      name: "PostgreSQL",
      isServer: isServerOf.PostgreSQL,
      signals: SIGNALS,
    }),
    endOrphans(join(dataDir.path, "clickhouse"), {
      name: "ClickHouse",
      isServer: isServerOf.ClickHouse,
      signals: SIGNALS.slice(-1),
    }),
  ]);
  await dataDir[Symbol.asyncDispose]();
}
