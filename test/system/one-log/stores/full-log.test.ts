import { afterAll, beforeAll, expect, test } from "vitest";
import { importRoutes } from "../../../../api/imports/import-routes.js";
import { ActiveUploads } from "../../../../ingest/import/active-uploads.js";
import { EventLogUnavailable, type EventLog } from "../../../../schemas/records/event-log.js";
import type { EventImport } from "../../../../schemas/records/import-store.js";
import { importRecordRoutes } from "../../../../api/imports/import-record-routes.js";
import {
  openTestPostgres,
  serveApi,
  type ServedApi,
  type TestPostgres,
} from "../../../support/api/management-api.js";
import { makeWorld, type World } from "../../../support/api/management-world.js";

/** A log whose disk is full; what the embedded log then throws is shown in its own tests. */
const fullLog: EventLog = {
  partitions: 8,
  append: () => Promise.reject(new EventLogUnavailable("no room", { cause: new Error("ENOSPC") })),
  consume: () => Promise.reject(new Error("nothing is consumed here")),
  [Symbol.asyncDispose]: async () => undefined,
};

let postgres: TestPostgres;
let api: ServedApi;
let world: World;

beforeAll(async () => {
  postgres = await openTestPostgres();
  const { pg } = postgres;
  const starting = importRoutes({ pg, eventLog: fullLog, active: new ActiveUploads() });
  const reading = importRecordRoutes({ pg, clickhouse: undefined as never });
  api = await serveApi({ pg, routes: [...starting, ...reading] });
  world = await makeWorld(api, pg);
});

afterAll(async () => {
  await api?.[Symbol.asyncDispose]();
  await postgres?.[Symbol.asyncDispose]();
});

test("an import that the log has no room for is answered 503 and aborted, never half accepted", async () => {
  const { organization, tokens } = world;
  const answer = await api.call(tokens.admin, `POST /v2/${organization}/import`, { $time: "2025-01-01" });
  expect(answer).toMatchObject({ status: 503, body: { code: "unavailable" } });
  expect(answer.headers.get("Retry-After")).toMatch(/^\d+$/);
  const { body } = await api.call(tokens.admin, `GET /v2/imports/${organization}`);
  expect((body as { event_imports: EventImport[] }).event_imports).toMatchObject([
    { status: "aborted", error_log_sample: [{ type: "upload-interrupted" }] },
  ]);
});
