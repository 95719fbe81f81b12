import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { CollectThreadData, FromCollect, ToCollect } from "./collect-messages.js";
import { keepThread } from "./keep-thread.js";

export interface CollectOptions extends CollectThreadData {
  log: Logger;
}

/** Live collection on a thread of its own: redirects wait for no upload, no export and no garbage of the API's. */
export interface Collect extends AsyncDisposable {
  readonly url: string;
  /** Resolves with the reason when it could not be started again. */
  readonly lost: Promise<Error>;
  /** False when it ended by itself, until it serves again. */
  isServing(): boolean;
  /** In Prometheus's text form; nothing of a thread that does not answer. */
  metrics(): Promise<string>;
  /** Answers what is asked, appends the events of all answers to the log, and resolves. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** With its broker away it would go on trying for half a minute. */
const STOP_IN_START_MS_MAX = 3_000;
/** Others are scraped with it. */
const METRICS_MS_MAX = 2_000;

/** Throws StartFailure when its port cannot be had. */
export async function startCollect({ log, config, ...stores }: CollectOptions): Promise<Collect> {
  let url = "";
  let { port } = config.collect;
  let whenScraped = (_: string): void => undefined;
  let scraping: Promise<string> | undefined;
  const thread = keepThread<ToCollect, FromCollect>({
    module: new URL("./collect-thread.js", import.meta.url),
    name: "collect",
    called: "live collection",
    log,
    data: () => ({ ...stores, config: { ...config, collect: { ...config.collect, port } } }),
    hear(message) {
      if ("metrics" in message) return whenScraped(message.metrics);
      // Where any free port would do, the one that others know by now is taken again.
      ({ url, port } = message);
    },
    onEnded: () => whenScraped(""),
    stopInStartMsMax: "kafka" in stores.logSource ? STOP_IN_START_MS_MAX : undefined,
  });
  const scrape = async () => {
    const answer = new Promise<string>((resolve) => (whenScraped = resolve));
    thread.tell({ scrape: true });
    return Promise.race([answer, sleep(METRICS_MS_MAX, "")]);
  };
  await thread.ready;
  return {
    url,
    lost: thread.lost,
    isServing: () => thread.isReady(),
    metrics: async () =>
      thread.isReady() ? (scraping ??= scrape().finally(() => (scraping = undefined))) : "",
    [Symbol.asyncDispose]: () => thread.stop(),
  };
}
