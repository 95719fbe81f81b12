import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { importRecordRoutes } from "../../../../api/features/imports/import-record-routes.js";
import { importRoutes } from "../../../../api/features/imports/import-routes.js";
import { openLogSnapshot } from "../../../../deploy/backup/log-snapshot.js";
import { openLogStore } from "../../../../deploy/stores/embedded/event-log/event-log-store.js";
import { openEmbeddedLog } from "../../../../deploy/stores/embedded/event-log/event-log.js";
import { ActiveUploads } from "../../../../ingest/import/active-uploads.js";
import { type EventLog, EventLogUnavailable } from "../../../../schemas/records/event-log.js";
import type { EventImport } from "../../../../schemas/records/import-store.js";
import { api, useOneWorld, world } from "../../../support/api/use-world.js";

describe("a full log", () => {
  /** A log whose disk is full; what the embedded log then throws is shown in its own tests. */
  const fullLog: EventLog = {
    partitions: 8,
    append: () => Promise.reject(new EventLogUnavailable("no room", { cause: new Error("ENOSPC") })),
    consume: () => Promise.reject(new Error("nothing is consumed here")),
    [Symbol.asyncDispose]: async () => undefined,
  };

  useOneWorld(({ pg }) => {
    const starting = importRoutes({ pg, eventLog: fullLog, active: new ActiveUploads() });
    return { routes: [...starting, ...importRecordRoutes({ pg, clickhouse: undefined as never })] };
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
});

describe("a snapshot of the log", () => {
  let parent: string;
  let dir: string;

  beforeEach(() => {
    parent = mkdtempSync(join(tmpdir(), "log-snapshot-"));
    dir = join(parent, "log");
  });

  afterEach(() => rmSync(parent, { recursive: true }));

  const record = (length: number) => Buffer.alloc(length, length % 251);

  test("has every record of its moment, positions and the log's id, and nothing that was appended later", async () => {
    await using log = await openEmbeddedLog({ dir, partitions: 2 });
    const lengths = [1, 7, 40, 5_000, 300_000];
    for (const length of lengths) await log.append([record(length)], { partition: 1 });
    const copied = join(parent, "copy");
    {
      await using snapshot = openLogSnapshot(dir);
      snapshot.pin();
      await log.append([record(9)], { partition: 1 });
      await snapshot.copyTo(copied);
    }
    const [original, copy] = await Promise.all(
      [dir, copied].map((path) => openLogStore({ dir: path, topic: "events.raw", partitions: 8 })),
    );
    expect(copy).toMatchObject({ id: original?.id, partitions: 2 });
    expect(copy?.nextOffsets().value).toEqual([0, lengths.length]);
    const values = [...(copy?.records.getRange({}) ?? [])].map(({ value }) => Buffer.from(value));
    expect(values).toEqual(lengths.map(record));
    // Its positions are versioned as before: the next append goes on.
    expect(copy?.nextOffsets().version).toBe((original?.nextOffsets().version ?? 0) - 1);
    await Promise.all([original?.root.close(), copy?.root.close()]);
  });
});
