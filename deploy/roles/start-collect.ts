import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { CollectThreadData, FromCollect, ToCollect } from "./collect-messages.js";
import { superviseThread } from "../process/supervise-thread.js";

export interface CollectOptions {
  config: CollectThreadData["config"];
  stores: Omit<CollectThreadData, "config">;
  log: Logger;
  /** What the thread runs. */
  module?: URL;
}

/** Live collection on a thread of its own: redirects wait for no upload, no export and no garbage of the API's. */
export interface Collect extends AsyncDisposable {
  readonly url: string;
  /** Resolves with the reason when it could not be started again. */
  readonly lost: Promise<Error>;
  /** False when it ended by itself, until it serves again. */
  isServing(): boolean;
  /** In Prometheus's text form; what it told last where the thread does not answer. */
  metrics(): Promise<string>;
  /** Answers what is asked, appends the events of all answers to the log, and resolves. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Less than Prometheus waits for a process. */
const METRICS_MS_MAX = 5_000;
const MODULE = new URL("./collect-thread.js", import.meta.url);

/** Throws StartFailure when its port cannot be had. */
export async function startCollect({
  config,
  stores,
  log,
  module = MODULE,
}: CollectOptions): Promise<Collect> {
  const { collect, logCodec, logLevel, trustedProxies } = config;
  const { logSource, postgresUrl, clickhouseUrl } = stores;
  let url = "";
  let { port } = collect;
  const metrics = keepMetrics(() => thread.tell({ scrape: true }));
  const thread = superviseThread<ToCollect, FromCollect>({
    module,
    name: "collect",
    called: "live collection",
    log,
    data: (): CollectThreadData => ({
      config: { collect: { ...collect, port }, logCodec, logLevel, trustedProxies },
      logSource,
      postgresUrl,
      clickhouseUrl,
    }),
    hear(message) {
      if ("metrics" in message) metrics.hear(message.metrics);
      // Where any free port would do, the one that others know by now is taken again.
      else ({ url, port } = message);
    },
    onEnded: () => metrics.end(),
    mayHangInStart: "kafka" in logSource,
  });
  await thread.ready;
  return {
    url,
    lost: thread.lost,
    isServing: () => thread.isReady(),
    metrics: () => (thread.isReady() ? metrics.ask() : Promise.resolve(metrics.last())),
    [Symbol.asyncDispose]: () => thread[Symbol.asyncDispose](),
  };
}

/** Several may ask at once. An answer that comes too late is for whoever asks next: it tells why it was late. */
function keepMetrics(scrape: () => void) {
  let last = "";
  let asked: Promise<string> | undefined;
  let answer = (_: string): void => undefined;
  return {
    last: () => last,
    hear(text: string) {
      last = text;
      answer(text);
    },
    end: () => answer(last),
    async ask(): Promise<string> {
      if (asked === undefined) {
        asked = new Promise((resolve) => (answer = resolve));
        scrape();
      }
      const text = await Promise.race([asked, sleep(METRICS_MS_MAX, undefined, { ref: false })]);
      if (text !== undefined) asked = undefined;
      return text ?? last;
    },
  };
}
