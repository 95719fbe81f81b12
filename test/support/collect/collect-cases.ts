import { readFileSync } from "node:fs";
import { expect } from "vitest";
import type { CollectCall } from "./collect-client.js";
import type { CollectWorld, StoredEvent } from "./collect-world.js";

/** See `about` in the file. */
export interface CollectCase {
  name: string;
  request: { method: string; path: string; headers: { Host: string }; body: string | null };
  rules: CollectRule[];
  expect: {
    status: number;
    headers: Record<string, string>;
    variables: Record<string, string>[];
    events: number;
    body: string;
  };
}

export type CollectRule = FileRule | DockerRule | PythonRule;

export interface FileRule {
  type: "file-v1";
  domain: string;
  "incoming-path": string;
  "outgoing-url": string | null;
}

export interface DockerRule {
  type: "docker-v1";
  "repository-name": string;
  domain: string;
  registry: string;
}

export interface PythonRule {
  type: "python-v1";
  domain: string;
  "package-name": string;
  "file-name": string;
  "backend-url": string;
}

/** Requests to package gateways, and their answers. */
export const COLLECT_CASES = (
  JSON.parse(readFileSync("test/fixtures/collect/cases.json", "utf8")) as { cases: CollectCase[] }
).cases;

const KEPT = "what is sent to a route, and is no part of it, is variables of the event";
const PAGE = "a page of an index is no download, so no event, and has a tag of our own";

/** Cases that are not followed to the letter, and where not. */
const DEVIATIONS: Record<string, string> = {
  "file-package-with-events-in-its-body": KEPT,
  "file-package-without-variable": KEPT,
  "file-package-without-variable-2": KEPT,
  pixel: "the case has words in place of the picture",
  "python-test-package": PAGE,
  "python-test-root": PAGE,
  "python-test-root-head": PAGE,
  "npm-install-report-1": "the report names no package that an event could be of",
};

/** A case, and what is different here. */
export type DeviatingCase = CollectCase & { why: string };

/** Cases of which status, headers, body and events are to be as they say. */
export const literalCases = COLLECT_CASES.filter(({ name }) => DEVIATIONS[name] === undefined);

/** The others. */
export const deviatingCases: readonly DeviatingCase[] = COLLECT_CASES.flatMap((each) => {
  const why = DEVIATIONS[each.name];
  return why === undefined ? [] : [{ ...each, why }];
});

/** For titles that are said whole, however long. */
export function titled(cases: readonly DeviatingCase[]): [string, DeviatingCase][] {
  return cases.map((each) => [`${each.name}, but ${each.why}`, each]);
}

/** A client that is redirected to registries. */
const MARKER = "docker/marker";

/**
 * The events of an artifact, each as often as it is stored, once one that `marker` asks for is there as well: it is
 * asked for last, so that of no event it can be said that it did not come.
 */
export async function eventsBefore(
  world: CollectWorld,
  { id, count, marker }: { id: string; count: number; marker: CollectCall },
): Promise<StoredEvent[]> {
  await world.call({ ...marker, headers: { "User-Agent": MARKER } });
  const stored = async () =>
    (await world.events(id)).flatMap((event) => Array<StoredEvent>(event.times).fill(event));
  await expect.poll(async () => (await stored()).map(({ userAgent }) => userAgent)).toContain(MARKER);
  await expect.poll(async () => (await stored()).length).toBe(count + 1);
  return (await stored()).filter(({ userAgent }) => userAgent !== MARKER);
}

/** How many events there are, whatever they are of. */
export async function countEvents({ clickhouse }: CollectWorld): Promise<number> {
  const [row] = await clickhouse.rows<{ events: number }>("SELECT toInt32(sum(sign)) AS events FROM events");
  return row?.events ?? 0;
}
