import { randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ApiClient, connectApi } from "../../../deploy/demo/api-client.js";
import { generateBody } from "../../../deploy/demo/generate-events.js";
import type { EventImport } from "../../../schemas/records/import-store.js";
import type { DatabaseServers } from "../stores/database-servers.js";
import { expectedOutcome, outcomeOf, readUntil } from "../imports/import-outcome.js";
import { type RecountBodies, makeExporter, openRecount } from "../imports/import-world.js";
import { makePackage } from "../imports/make-artifacts.js";
import type { KnownArtifact } from "../imports/recount-line.js";
import { type Toolchain, startToolchain } from "./start-toolchain.js";

const RANGE = { startDate: "2025-03-01", endDate: "2025-05-01" };
const ORGANIZATION = "on-servers";
const OPEN_MS_MAX = 600_000;

/** The program's promises on databases that are not its own, known by DATABASE_URL and CLICKHOUSE_URL alone. */
export function programOnServers(name: string, openServers: () => Promise<DatabaseServers>): void {
  describe(name, () => {
    let servers: DatabaseServers;
    let toolchain: Toolchain;
    let api: ApiClient;
    let recountBodies: RecountBodies;
    let artifact: KnownArtifact;
    let path: string;
    /** Done and not retracted, in the order of receipt. */
    const kept: Buffer[] = [];

    beforeAll(async () => {
      [servers, recountBodies] = await Promise.all([openServers(), openRecount()]);
      const { databaseUrl: DATABASE_URL, clickhouseUrl: CLICKHOUSE_URL } = servers;
      const SECRET_KEY = randomBytes(32).toString("base64");
      toolchain = await startToolchain({ env: { DATABASE_URL, CLICKHOUSE_URL, SECRET_KEY } });
      api = await makeExporter(toolchain, ORGANIZATION);
      artifact = await makePackage(api, { organization: ORGANIZATION, name: "image", libraryType: "docker" });
      path = `/v2/packages/${ORGANIZATION}/${artifact.id}/import`;
    }, OPEN_MS_MAX);

    afterAll(async () => {
      await toolchain?.close();
      await servers?.[Symbol.asyncDispose]();
    }, OPEN_MS_MAX);

    function bodyOf(part: { count: number; startAt: number }): Buffer {
      const packages = [{ id: artifact.id, libraryType: "docker" as const }];
      const mix = { seed: 53, clients: 2_000, overrideShare: 0.3, from: "2025-03-10", days: 30, packages };
      return Buffer.concat([...generateBody({ ...mix, ...part })]);
    }

    const recountOf = (bodies: readonly Buffer[]) =>
      recountBodies(
        bodies.map((bytes) => ({ bytes, target: artifact.id })),
        [artifact],
      );

    async function importDone(body: Buffer): Promise<EventImport> {
      const record = await api.pollToDone(await api.importBody(path, body, { gzip: true }));
      const outcome = recountOf([body]).imports.map(expectedOutcome);
      expect([outcomeOf(record)]).toEqual(outcome);
      return record;
    }

    async function expectExports(bodies: readonly Buffer[]): Promise<void> {
      const { aggregates } = recountOf(bodies);
      await readUntil(api, ORGANIZATION, { packageId: artifact.id, range: RANGE, expected: aggregates });
    }

    test("uses these databases and makes none of its own", async () => {
      const { postgres, clickhouse } = toolchain.endpoints;
      expect({ postgres, clickhouse }).toEqual({
        postgres: servers.databaseUrl,
        clickhouse: servers.clickhouseUrl,
      });
      const folders = await readdir(toolchain.dataDir);
      expect(folders).toContain("endpoints.json");
      expect(folders).not.toContain("postgres");
      expect(folders).not.toContain("clickhouse");
    });

    test("an import with overrides is done, and the exports equal a recount of its lines", async () => {
      kept.push(bodyOf({ count: 20_000, startAt: 0 }));
      await importDone(kept[0] as Buffer);
      await expectExports(kept);
    });

    test("a retracted import leaves what was there before it", async () => {
      const record = await importDone(bodyOf({ count: 10_000, startAt: 20_000 }));
      const taken = await api.request(`/v2/imports/${ORGANIZATION}/${record.id}`, { method: "DELETE" });
      expect(taken.status).toBe(204);
      await expectExports(kept);
    });

    test("an import in whose middle the program is killed is done exactly after the next start", async () => {
      kept.push(bodyOf({ count: 20_000, startAt: 30_000 }));
      const started = await api.importBody(path, kept[1] as Buffer);
      await toolchain.kill("SIGKILL");
      await toolchain.restart();
      api = connectApi(toolchain.api, api.token);
      expect(await api.pollToDone(started)).toMatchObject({ status: "done", events_total: 20_000 });
      await expectExports(kept);
    });

    test("tables that are there already are found, and everything in them, by the next start", async () => {
      expect(await toolchain.kill("SIGTERM")).toBe(0);
      await toolchain.restart();
      api = connectApi(toolchain.api, api.token);
      await expectExports(kept);
    });
  });
}
