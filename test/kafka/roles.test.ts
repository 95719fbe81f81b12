import { afterAll, beforeAll, expect, test } from "vitest";
import type { ApiClient } from "../../deploy/demo/api-client.js";
import { settlesWithin } from "../../schemas/async/pause.js";
import type { EventImport } from "../../schemas/records/import-store.js";
import { countLive } from "../support/stores/open-clickhouse.js";
import { describeWithBroker } from "../broker/suite/describe-with-broker.js";
import { firstDifference } from "../support/imports/recount-aggregates.js";
import { makeOrganization, makePackage } from "../support/imports/make-artifacts.js";
import { onPostgres } from "../support/stores/on-postgres.js";
import { openUpload } from "../support/imports/open-upload.js";
import {
  openRolesWorld,
  type RolesWorld,
  sectionBytes,
  type Section,
} from "../support/program/roles-world.js";
import type { Toolchain } from "../support/program/start-toolchain.js";

/** Lines of the larger of two imports: `ROLES_TEST_LINES=2000000 npx vitest run --project kafka test/kafka/roles.test.ts` */
const LINES = Number(process.env["ROLES_TEST_LINES"] ?? 60_000);
/** A body that stands still for two minutes is given up. */
const ALIVE_MS = 10_000;
const RANGE = { startDate: "2025-03-01", endDate: "2025-05-01" };
const LINE = '{"$time":"2025-03-10T12:00:00Z"}\n';

describeWithBroker("each role as processes of its own, on a Kafka broker", (broker) => {
  let world: RolesWorld;
  let apis: readonly [ApiClient, ApiClient];

  beforeAll(async () => {
    world = await openRolesWorld(broker());
    apis = world.apis;
  });

  afterAll(() => world?.[Symbol.asyncDispose]());

  const send = (api: ApiClient, sections: readonly Section[]) =>
    api.importBody(world.path, sectionBytes(sections), { gzip: true });

  /** The bytes of the sections; those of the last one are sent once `released` resolves, and empty lines until then. */
  async function* heldBack(sections: readonly Section[], released: Promise<void>): AsyncGenerator<Buffer> {
    yield* sectionBytes(sections.slice(0, -1));
    while (!(await settlesWithin(released, ALIVE_MS))) yield Buffer.from("\n");
    await released;
    yield* sectionBytes(sections.slice(-1));
  }

  /** Counts, aggregates and raw rows are those of the sections, counted again. */
  async function expectExact(record: EventImport, sections: readonly Section[]): Promise<void> {
    const answered = await apis[1].readAggregates(world.organization, RANGE);
    const counts = { total: 0, successful: 0 };
    for (const section of sections) {
      const { aggregates, imports, live } = world.recountSection(section);
      counts.total += imports[0]?.total ?? 0;
      counts.successful += imports[0]?.successful ?? 0;
      const ofPackage = answered.filter((line) => line.package === section.artifact.id);
      expect(firstDifference(ofPackage, aggregates)).toBe("");
      expect(await countLive(world.clickhouse, section.artifact.id)).toEqual({
        events: live.length,
        notOnce: 0,
      });
    }
    expect(record).toMatchObject({
      status: "done",
      events_total: counts.total,
      events_successfully_imported: counts.successful,
    });
  }

  test("imports through two APIs are exact while two of three enrichers are killed and another one joins", async () => {
    const bodies = [await world.newSections(LINES), await world.newSections(LINES / 4)];
    const eventsOfAll = async () => {
      const { events } = await world.row<{ events: number }>(
        "select coalesce(sum(events_total), 0)::int as events from imports",
      );
      return events;
    };
    const whenWritten = (share: number) =>
      expect.poll(eventsOfAll, { timeout: 120_000 + LINES, interval: 20 }).toBeGreaterThan(LINES * share);
    const [first, second] = world.enrichers as [Toolchain, Toolchain];
    const killBoth = async () => {
      await whenWritten(0);
      expect(await first.kill("SIGKILL")).toBe("SIGKILL");
      const joining = world.addEnricher();
      await whenWritten(0.3);
      expect(await second.kill("SIGKILL")).toBe("SIGKILL");
      await joining;
    };

    // The end of the first body is sent when both are dead: the imports cannot be over before.
    const [large, small] = bodies as [Section[], Section[]];
    const sent = await Promise.all([
      apis[0].importBody(world.path, heldBack(large, killBoth())),
      send(apis[1], small),
    ]);
    const records = await Promise.all(
      sent.map((started, index) =>
        (apis[1 - index] as ApiClient).pollToDone(started, { timeoutMs: 120_000 + LINES }),
      ),
    );
    for (const [index, record] of records.entries())
      await expectExact(record, bodies[index] as readonly Section[]);
    for (const dead of [first, second]) await world.cluster.remove(dead);
  });

  test("the 16th import of an owner at a time is refused, also when the others are at another API", async () => {
    const path = `/v2/packages/${world.organization}/${(await world.newPackage()).id}/import`;
    const uploads = Array.from({ length: 15 }, () => openUpload(apis[0], path));
    for (const upload of uploads) await upload.send(LINE);
    const active = async () => {
      const { event_imports } = await apis[1].get<{ event_imports: EventImport[] }>(
        `/v2/imports/${world.organization}`,
      );
      return event_imports.filter(({ status }) => status === "importing").length;
    };
    await expect.poll(active).toBe(15);
    const sixteenth = openUpload(apis[1], path);
    await sixteenth.send(LINE);
    expect(await sixteenth.answer).toMatchObject({
      status: 422,
      body: { code: "too-many-active-imports", message: "too many active imports" },
    });
    sixteenth.breakOff();
    for (const upload of uploads) upload.end();
    const answers = await Promise.all(uploads.map(({ answer }) => answer));
    for (const { body } of answers) await apis[1].pollToDone(body as EventImport);
  });

  test("one Idempotency-Key at two APIs is one import", async () => {
    const artifact = await world.newPackage();
    const path = `/v2/packages/${world.organization}/${artifact.id}/import`;
    const start = (api: ApiClient) => openUpload(api, path, { "Idempotency-Key": "same" });
    const first = start(apis[0]);
    await first.send(LINE);
    const isThere = async () =>
      (
        await world.row<{ there: boolean }>(
          "select exists (select from import_keys where key = 'same') as there",
        )
      ).there;
    await expect.poll(isThere).toBe(true);
    const early = start(apis[1]);
    await early.send(LINE);
    expect(await early.answer).toMatchObject({ status: 409, body: { code: "import-in-progress" } });
    early.breakOff();
    first.end();
    const { body } = await first.answer;
    const again = start(apis[1]);
    again.end(); // nothing of its body is wanted
    const { id } = body as EventImport;
    expect(await again.answer).toMatchObject({ status: 200, body: { id } });
    expect(await apis[1].pollToDone(body as EventImport)).toMatchObject({ events_total: 1 });
    const imports = await world.row("select count(*)::int as count from imports where artifact_id = $1", [
      artifact.id,
    ]);
    expect(imports).toEqual({ count: 1 });
  });

  /** Shows that settlement has looked for work once more. */
  async function importOfAnotherOwner(): Promise<void> {
    const [api] = apis;
    await makeOrganization(api, "bystander");
    const made = { organization: "bystander", name: "files", libraryType: "other" } as const;
    const { id } = await makePackage(api, made);
    await api.pollToDone(await api.importBody(`/v2/packages/bystander/${id}/import`, LINE));
  }

  test("one of two processes of jobs settles an owner's imports at a time, and the other goes on without it", async () => {
    const other = await world.cluster.add("jobs");
    const sections = await world.newSections(8_000);
    const settled = async ({ endpoints }: Toolchain) => {
      const text = await (await fetch(`${endpoints.metrics}/metrics`)).text();
      return Number(/^settlement_versions_total (\d+)$/m.exec(text)?.[1] ?? 0);
    };
    const before = await settled(world.jobs);
    const started = await onPostgres(world.cluster.postgresUrl, async (client) => {
      await client.query(
        `select pg_advisory_lock(hashtextextended('settlement of ' || id::text, 0)) from owners where name = $1`,
        [world.organization],
      );
      const sent = await send(apis[0], sections);
      const enriched = async () =>
        (
          await client.query<{ enriched: boolean }>(
            "select chunks_written = chunks_total as enriched from imports where id = $1",
            [sent.id],
          )
        ).rows[0]?.enriched;
      await expect.poll(enriched).toBe(true);
      await importOfAnotherOwner();
      const { rows } = await client.query("select status, chunks_settled from imports where id = $1", [
        sent.id,
      ]);
      expect(rows).toEqual([{ status: "importing", chunks_settled: 0 }]);
      return sent;
    });
    const record = await apis[1].pollToDone(started);
    const { live, imports } = world.recountSection(sections[0] as Section);
    const overridden = (imports[0]?.successful ?? 0) - live.length;
    expect(overridden).toBeGreaterThan(1_000);
    // Each superseded version was removed by one of them, once.
    await expect
      .poll(async () => (await settled(world.jobs)) - before + (await settled(other)))
      .toBe(overridden);
    await expectExact(record, sections);

    await world.jobs.kill("SIGKILL");
    const more = await world.newSections(2_000);
    await expectExact(await apis[0].pollToDone(await send(apis[0], more)), more);
  });

  /** Two, whose sessions outlast a machine that stands still for seconds: Kafka would give their batches to each other. */
  async function replaceEnrichers(): Promise<readonly Toolchain[]> {
    for (const enricher of world.enrichers) await world.cluster.remove(enricher);
    const steady = { KAFKA_SESSION_TIMEOUT_MS: "30000" };
    return [await world.addEnricher(steady), await world.addEnricher(steady)];
  }

  test("an enricher that is told to stop in the middle of an import drains in time, and nothing is written again", async () => {
    const [leaving] = await replaceEnrichers();
    const dropped = async () => {
      const rows = await world.clickhouse.rows<{ value: string }>(
        "SELECT value FROM system.events WHERE event = 'DuplicatedInsertedBlocks'",
      );
      return Number(rows[0]?.value ?? 0);
    };
    const before = await dropped();
    const sections = await world.newSections(LINES);
    const sending = send(apis[0], sections);
    const newest = async () =>
      world.row<{ running: boolean }>(
        `select status = 'importing' and chunks_written > 0 as running from imports
         where artifact_kind = 'any' order by id desc limit 1`,
      );
    await expect.poll(newest, { interval: 20 }).toEqual({ running: true });
    // It gives itself 20 s, and ends with status 1 when these are over.
    expect(await leaving?.kill("SIGTERM")).toBe(0);
    const started = await sending;
    const record = await apis[0].pollToDone(started, { timeoutMs: 120_000 + LINES });
    await expectExact(record, sections);
    const reports = await world.row("select max(reports) as most from import_chunks where import_id = $1", [
      started.id,
    ]);
    expect(reports).toEqual({ most: 1 });
    expect(await dropped()).toBe(before);
  });
});
