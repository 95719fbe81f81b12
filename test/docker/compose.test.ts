import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ApiClient } from "../../deploy/demo/api-client.js";
import type { EventImport } from "../../schemas/records/import-store.js";
import { expectedOutcome, outcomeOf } from "../support/imports/import-outcome.js";
import { type ImportTarget, makeTarget } from "../support/imports/import-target.js";
import { makeExporter } from "../support/imports/import-world.js";
import { type ComposeInstallation, openComposeInstallation } from "./compose-installation.js";
import { describeWithDocker } from "./describe-with-docker.js";

const ORGANIZATION = "acme";
const FIRST_LINES = 200_000;
const LINES = 40_000;

describeWithDocker("deploy/compose.yaml", () => {
  let installed: ComposeInstallation;
  let api: ApiClient;
  let target: ImportTarget;
  /** In the order of receipt. */
  const kept: Buffer[] = [];

  beforeAll(async () => {
    installed = await openComposeInstallation("one");
    await installed.paste("install.md", 0);
    api = await makeExporter(installed, ORGANIZATION, "bob");
    // The containers have the whole lookup tables.
    target = await makeTarget(api, { organization: ORGANIZATION, libraryType: "docker", prepared: [] });
  });

  afterAll(() => installed?.[Symbol.asyncDispose]());

  /** Lines that follow those sent before, a third of them in their place. */
  function nextBody(count: number): Buffer {
    const body = target.bodyOf({ count, startAt: kept.length * LINES });
    kept.push(body);
    return body;
  }

  async function expectDone(started: EventImport): Promise<void> {
    const record = await api.pollToDone(started);
    const [expected] = target.recount(kept.at(-1) as Buffer).imports.map(expectedOutcome);
    expect(outcomeOf(record)).toEqual(expected);
    await target.expectExports(api, ...kept);
  }

  /** Sends lines, does something before they are counted, and waits for exact numbers. */
  async function during(harm: () => Promise<unknown>): Promise<void> {
    const started = await api.importBody(target.path, nextBody(LINES), { gzip: true });
    await harm();
    await installed.compose("up", "--detach", "--no-recreate");
    await expectDone(started);
  }

  test("starts as install.md says; 200,000 lines are exact in aggregates, events and on the page", async () => {
    await expectDone(await api.importBody(target.path, nextBody(FIRST_LINES), { gzip: true }));
    const { live } = target.recount(...kept);
    const { id } = target.artifact;
    const range = "startDate=2025-03-10&endDate=2025-03-31";
    const csv = await api.readLines(`/v1/packages/${id}/events/events.csv?${range}`);
    expect(csv).toHaveLength(live.length + 1);
    expect(await api.get(`/v2/${ORGANIZATION}/stats?${range}&package=${id}`)).toMatchObject({
      totals: { downloads: live.length },
    });
  });

  test.each(["enrich", "jobs", "collect", "kafka", "clickhouse", "postgres"])(
    "killed in the middle of an import and started again, %s has cost and doubled no line",
    (service) =>
      during(async () => {
        await installed.compose("kill", "--signal", "SIGKILL", service);
        await installed.compose("start", service);
      }),
  );

  test("three enrichers share an import, and no line counts twice", () =>
    during(() => installed.compose("up", "--detach", "--no-recreate", "--scale", "enrich=3", "enrich")));

  test("an upgrade as upgrade.md says, in the middle of an import, changes no number", () =>
    during(async () => {
      // Another image, and so new containers.
      await appendFile(join(installed.dir, "deploy/Dockerfile"), "LABEL upgraded=true\n");
      await installed.paste("upgrade.md", 0);
    }));

  test("ClickHouse, lost after a backup and restored as backup.md says, has later lines as well", async () => {
    await installed.paste("backup.md", 0, 1);
    await during(async () => undefined);
    await installed.compose("rm", "--stop", "--force", "clickhouse");
    await installed.bash("docker volume rm ${COMPOSE_PROJECT_NAME}_clickhouse");
    await installed.paste("backup.md", 0, 2);
    await target.expectExports(api, ...kept);
  });

  test("with PostgreSQL lost as well, everything is as of the backup", async () => {
    await installed.paste("backup.md", 0, 1);
    const before = await api.readLines(`/v2/imports/${ORGANIZATION}`);
    await installed.compose("rm", "--stop", "--force", "postgres");
    await installed.bash("docker volume rm ${COMPOSE_PROJECT_NAME}_postgres");
    await installed.paste("backup.md", 0, 3);
    await installed.paste("backup.md", 0, 2);
    await target.expectExports(api, ...kept);
    expect(await api.readLines(`/v2/imports/${ORGANIZATION}`)).toEqual(before);
  });
});
