import { randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ApiClient, connectApi } from "../../../deploy/demo/api-client.js";
import type { EventImport } from "../../../schemas/records/import-store.js";
import type { DatabaseServers } from "../stores/database-servers.js";
import { expectedOutcome, outcomeOf, retract } from "../imports/import-outcome.js";
import { type ImportTarget, makeTarget } from "../imports/import-target.js";
import { makeExporter } from "../imports/import-world.js";
import { type Toolchain, startToolchain } from "./start-toolchain.js";

const ORGANIZATION = "on-servers";
const OPEN_MS_MAX = 600_000;

/** The program's promises on databases that are not its own, known by DATABASE_URL and CLICKHOUSE_URL alone. */
export function programOnServers(name: string, openServers: () => Promise<DatabaseServers>): void {
  describe(name, () => {
    let servers: DatabaseServers;
    let toolchain: Toolchain;
    let api: ApiClient;
    let target: ImportTarget;
    /** Done and not retracted, in the order of receipt. */
    const kept: Buffer[] = [];

    beforeAll(async () => {
      servers = await openServers();
      const { databaseUrl: DATABASE_URL, clickhouseUrl: CLICKHOUSE_URL } = servers;
      const SECRET_KEY = randomBytes(32).toString("base64");
      toolchain = await startToolchain({ env: { DATABASE_URL, CLICKHOUSE_URL, SECRET_KEY } });
      api = await makeExporter(toolchain, ORGANIZATION);
      target = await makeTarget(api, { organization: ORGANIZATION, libraryType: "docker" });
    }, OPEN_MS_MAX);

    afterAll(async () => {
      await toolchain?.close();
      await servers?.[Symbol.asyncDispose]();
    }, OPEN_MS_MAX);

    const bodyOf = (part: { count: number; startAt: number }) => target.bodyOf(part);

    async function importDone(body: Buffer): Promise<EventImport> {
      const started = await api.importBody(target.path, body, { gzip: true });
      const record = await api.pollToDone(started);
      expect([outcomeOf(record)]).toEqual(target.recount(body).imports.map(expectedOutcome));
      return record;
    }

    const expectExports = () => target.expectExports(api, ...kept);

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
      await expectExports();
    });

    test("a retracted import leaves what was there before it", async () => {
      const record = await importDone(bodyOf({ count: 10_000, startAt: 20_000 }));
      await retract(api, `/v2/imports/${ORGANIZATION}/${record.id}`);
      await expectExports();
    });

    test("an import in whose middle the program is killed is done exactly after the next start", async () => {
      kept.push(bodyOf({ count: 20_000, startAt: 30_000 }));
      const started = await api.importBody(target.path, kept[1] as Buffer);
      await toolchain.kill("SIGKILL");
      await toolchain.restart();
      api = connectApi(toolchain.api, api.token);
      expect(await api.pollToDone(started)).toMatchObject({ status: "done", events_total: 20_000 });
      await expectExports();
    });

    test("tables that are there already are found, and everything in them, by the next start", async () => {
      expect(await toolchain.kill("SIGTERM")).toBe(0);
      await toolchain.restart();
      api = connectApi(toolchain.api, api.token);
      await expectExports();
    });
  });
}
