import { afterAll, beforeAll, expect, test } from "vitest";
import type { CheckLines } from "../../../../api/imports/check-lines.js";
import { importRoutes } from "../../../../api/imports/import-routes.js";
import type { ApiClient } from "../../../../deploy/demo/api-client.js";
import { emptyTally } from "../../../../enrich/lines/tally-lines.js";
import { ActiveUploads } from "../../../../ingest/import/active-uploads.js";
import {
  openTestPostgres,
  serveApi,
  type ServedApi,
  type TestPostgres,
} from "../../../support/api/management-api.js";
import { makeWorld, type World } from "../../../support/api/management-world.js";
import { openSocket } from "../../../support/imports/open-upload.js";
import { UNUSED_LOG } from "../../../support/stores/unused-log.js";

const LINE = '{"$time":"2025-03-10T12:00:00Z"}\n';
/** As many as an owner may have. */
const DRY_RUNS = 15;

let postgres: TestPostgres;
let api: ServedApi;
let world: World;
/** Of the checks that were begun. The first ones never end. */
const signals: AbortSignal[] = [];

const checkLines: CheckLines = (_, signal) =>
  signals.push(signal) > DRY_RUNS ? Promise.resolve(emptyTally()) : new Promise(() => undefined);

beforeAll(async () => {
  postgres = await openTestPostgres();
  const { pg } = postgres;
  const routes = importRoutes({ pg, eventLog: UNUSED_LOG, active: new ActiveUploads(), checkLines });
  api = await serveApi({ pg, routes });
  world = await makeWorld(api, pg);
});

afterAll(async () => {
  await api?.[Symbol.asyncDispose]();
  await postgres?.[Symbol.asyncDispose]();
});

test("callers who leave during their dry runs leave room for others at once", async () => {
  const path = `/v2/${world.organization}/import?dryRun=true`;
  const as = { url: api.url, token: world.tokens.admin } as ApiClient;
  const headers = [`Content-Length: ${LINE.length}`];
  const callers = await Promise.all(
    Array.from({ length: DRY_RUNS }, () => openSocket(as, { path, headers })),
  );
  for (const caller of callers) await caller.send(LINE);
  const dryRun = async () =>
    (
      await fetch(`${api.url}${path}`, {
        method: "POST",
        headers: { Authorization: `Bearer ${as.token}` },
        body: LINE,
      })
    ).status;
  await expect.poll(() => signals.length).toBe(DRY_RUNS);
  expect(await dryRun()).toBe(422);
  for (const caller of callers) caller.breakOff();
  await expect.poll(dryRun).toBe(200);
  expect(signals.slice(0, DRY_RUNS).map(({ aborted }) => aborted)).not.toContain(false);
});
