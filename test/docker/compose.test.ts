import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ComposeInstallation, openComposeInstallation } from "./compose-installation.js";
import { type ContainerImports, openContainerImports } from "./container-imports.js";
import { describeWithDocker } from "./describe-with-docker.js";

const FIRST_LINES = 200_000;

describeWithDocker("deploy/compose.yaml", () => {
  let installed: ComposeInstallation;
  let imports: ContainerImports;

  beforeAll(async () => {
    installed = await openComposeInstallation("one");
    await installed.paste("operate/compose.md", 0, 1);
    imports = await openContainerImports(installed);
  });

  afterAll(() => installed?.[Symbol.asyncDispose]());

  test("starts as compose.md says; 200,000 lines are exact in aggregates, events and on the page", async () => {
    await imports.send(FIRST_LINES);
    const { api, organization, target } = imports;
    const live = imports.live();
    const range = "startDate=2025-03-10&endDate=2025-03-31";
    const csv = await api.readLines(`/v1/packages/${target.artifact.id}/events/events.csv?${range}`);
    expect(csv).toHaveLength(live + 1);
    expect(await api.get(`/v2/${organization}/stats?${range}&package=${target.artifact.id}`)).toMatchObject({
      totals: { downloads: live },
    });
  });

  test.each(["enrich", "jobs", "collect", "kafka", "clickhouse", "postgres"])(
    "killed in the middle of an import and started again, %s has cost and doubled no line",
    (service) =>
      imports.during(async () => {
        await installed.compose("kill", "--signal", "SIGKILL", service);
        await installed.compose("start", service);
      }),
  );

  test("three enrichers share an import, and no line counts twice", () =>
    imports.during(() =>
      installed.compose("up", "--detach", "--no-recreate", "--scale", "enrich=3", "enrich"),
    ));

  test("an upgrade as upgrade.md says, in the middle of an import, changes no number", () =>
    imports.during(async () => {
      // Another image, and so new containers.
      await appendFile(join(installed.dir, "deploy/Dockerfile"), "LABEL upgraded=true\n");
      await installed.paste("operate/upgrade.md", 0);
    }));

  test("ClickHouse, lost after a backup and restored as restore.md says, has later lines as well", async () => {
    await installed.paste("operate/backup.md", 0, 1);
    await imports.during(async () => undefined);
    await installed.compose("rm", "--stop", "--force", "clickhouse");
    await installed.bash("docker volume rm ${COMPOSE_PROJECT_NAME}_clickhouse");
    await installed.paste("operate/restore.md", 0, 1);
    await imports.expectExports();
  });

  test("with PostgreSQL lost as well, everything is as of the backup", async () => {
    await installed.paste("operate/backup.md", 0, 1);
    const before = await imports.api.readLines(`/v2/imports/${imports.organization}`);
    await installed.compose("rm", "--stop", "--force", "postgres");
    await installed.bash("docker volume rm ${COMPOSE_PROJECT_NAME}_postgres");
    await installed.paste("operate/restore.md", 0, 2);
    await installed.paste("operate/restore.md", 0, 1);
    await imports.expectExports();
    expect(await imports.api.readLines(`/v2/imports/${imports.organization}`)).toEqual(before);
  });
});
