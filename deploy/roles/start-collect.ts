import type { Logger } from "pino";
import { settlesWithin, pause } from "../../schemas/async/pause.js";
import type { CollectThreadData, FromCollect, ToCollect } from "./collect-messages.js";
import { superviseThread } from "../process/supervise-thread.js";

export interface CollectOptions {
  config: CollectThreadData["config"];
  stores: Omit<CollectThreadData, "config">;
  log: Logger;
  /** The module that the thread runs. */
  module?: URL;
}

/** Live collection on a thread of its own, so that uploads, exports and garbage collection of the API do not delay redirects. */
export interface Collect extends AsyncDisposable {
  readonly url: string;
  /** Resolves with the reason when the thread could not be restarted. */
  readonly lost: Promise<Error>;
  /** False after the thread ended by itself, until it serves again. */
  isServing(): boolean;
  /** Whether requests have waited for the thread ever since the last call. */
  isBusy(): boolean;
  /** In Prometheus's text form. The last known text when the thread does not answer within 5 s. */
  metrics(): Promise<string>;
  /** Resolves once every change that was committed before is served; without a thread that serves, at once. */
  caughtUp(): Promise<void>;
  /** Finishes open requests, appends the events of all answers to the log, and resolves. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Less than Prometheus's default scrape timeout of 10 s. */
const METRICS_MS_MAX = 5_000;
/** A busy thread may take longer; then the change is served a moment after its answer. */
const CAUGHT_UP_MS_MAX = 1_000;
/** With less, the thread had an idle moment, and so no request waits. */
const BUSY_MIN = 0.9;
const MODULE = new URL("./collect-thread.js", import.meta.url);

/** Throws StartFailure when the port is not available. */
export async function startCollect({
  config,
  stores,
  log,
  module = MODULE,
}: CollectOptions): Promise<Collect> {
  const { collect, dataDir, logCodec, logLevel, trustedProxies } = config;
  const { logSource, postgresUrl, clickhouseSource } = stores;
  let url = "";
  let { port } = collect;
  const metrics = threadMetrics(() => thread.send({ scrape: true }));
  const catchingUp = new Map<number, () => void>();
  let lastCatchUp = 0;
  const thread = superviseThread<ToCollect, FromCollect>({
    module,
    name: "collect",
    label: "the collector",
    log,
    data: (): CollectThreadData => ({
      config: { collect: { ...collect, port }, dataDir, logCodec, logLevel, trustedProxies },
      logSource,
      postgresUrl,
      clickhouseSource,
    }),
    onMessage(message) {
      if ("metrics" in message) metrics.onScraped(message.metrics);
      else if ("caughtUp" in message) catchingUp.get(message.caughtUp)?.();
      // With port 0, a restarted thread takes the same port again, which callers know.
      else ({ url, port } = message);
    },
    onEnded: () => metrics.onEnded(),
    mayHangInStart: "kafka" in logSource,
  });
  await thread.ready;
  return {
    url,
    lost: thread.lost,
    isServing: () => thread.isReady(),
    isBusy: () => thread.utilization() > BUSY_MIN,
    metrics: () => (thread.isReady() ? metrics.scrape() : Promise.resolve(metrics.last())),
    async caughtUp() {
      if (!thread.isReady()) return;
      const number = ++lastCatchUp;
      const answered = new Promise<void>((resolve) => catchingUp.set(number, resolve));
      thread.send({ catchUp: number });
      await settlesWithin(answered, CAUGHT_UP_MS_MAX);
      catchingUp.delete(number);
    },
    [Symbol.asyncDispose]: () => thread[Symbol.asyncDispose](),
  };
}

/** Concurrent scrapes share one request to the thread. A late answer goes to the next scrape. */
function threadMetrics(request: () => void) {
  let last = "";
  let pending: Promise<string> | undefined;
  let answer = (_: string): void => undefined;
  return {
    last: () => last,
    onScraped(text: string) {
      last = text;
      answer(text);
    },
    onEnded: () => answer(last),
    async scrape(): Promise<string> {
      if (pending === undefined) {
        pending = new Promise((resolve) => (answer = resolve));
        request();
      }
      const text = await Promise.race([pending, pause(METRICS_MS_MAX, { ref: false })]);
      if (text !== undefined) pending = undefined;
      return text ?? last;
    },
  };
}
