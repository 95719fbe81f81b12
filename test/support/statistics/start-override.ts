import type { ApiClient } from "../../../deploy/demo/api-client.js";
import { Random } from "../../../deploy/demo/random.js";
import { retract } from "../imports/import-outcome.js";
import { startUpload } from "../imports/start-upload.js";
import { lineOf, type SentEvent, sentEvent } from "./sent-events.js";

/** An import that overrides a fifth of the events, sent but for its end. */
export interface Override {
  /** The path of the import. */
  path: string;
  before: readonly SentEvent[];
  /** All events, with those that the import overrides. */
  after: SentEvent[];
  finish(): Promise<void>;
  retract(): Promise<void>;
}

interface Planned {
  owner: string;
  events: readonly SentEvent[];
  /** Of the new events. */
  days: readonly string[];
  seed: number;
}

/** Fills a chunk, so that it is sent while the upload goes on. */
const BLANK_LINES = "\n".repeat(600_000);

export async function startOverride(
  api: ApiClient,
  { owner, events, days, seed }: Planned,
): Promise<Override> {
  const random = new Random(seed);
  const overriding = events
    .filter((_, index) => index % 5 === 0)
    .map(({ artifact, key }) => sentEvent(random, { artifact, key, day: random.pick(days) }));
  const byKey = new Map(overriding.map((event) => [event.key, event]));
  const { upload, started } = await startUpload(api, { owner, path: `/v2/${owner}/import` });
  await upload.send(overriding.map(lineOf).join("") + BLANK_LINES);
  const path = `/v2/imports/${owner}/${started.id}`;
  return {
    path,
    before: events,
    after: events.map((event) => byKey.get(event.key) ?? event),
    async finish() {
      upload.end();
      await upload.answer;
      await api.pollToDone(started);
    },
    retract: () => retract(api, path),
  };
}
