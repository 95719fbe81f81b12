import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { composeImage } from "../support/stores/database-servers.js";
import { type ComposeInstallation, openComposeInstallation } from "./compose-installation.js";
import { type ContainerImports, openContainerImports } from "./container-imports.js";
import { describeWithDocker } from "./describe-with-docker.js";

const FILES = ["compose.yaml", "compose-cluster.yaml"];
/** The services of each shard. */
const SHARDS = [
  ["clickhouse", "a2"],
  ["b1", "b2"],
];
const ROWS = "SELECT count(), sum(sign), sum(cityHash64(*)) FROM events";

function onCluster() {
  let installed: ComposeInstallation;
  let imports: ContainerImports;

  beforeAll(async () => {
    installed = await openComposeInstallation("cluster", FILES);
    await installed.paste("operate/compose.md", 0);
    await installed.paste("operate/cluster.md", 0);
    await installed.bash(`until curl -sf ${installed.api}/readyz; do sleep 1; done`);
    imports = await openContainerImports(installed);
  });

  afterAll(() => installed?.[Symbol.asyncDispose]());

  const ask = (server: string, query: string) =>
    installed.compose(
      ...["exec", "-T", server, "sh", "-c"],
      `wget -qO- --post-data="${query}" "http://127.0.0.1:8123/?database=$CLICKHOUSE_DB&user=$CLICKHOUSE_USER&password=$CLICKHOUSE_PASSWORD"`,
    );

  /** Each replica has rows, and the same as the others of its shard. */
  async function expectEqualReplicas(): Promise<void> {
    for (const servers of SHARDS) {
      const rows = await Promise.all(servers.map((server) => ask(server, ROWS)));
      expect(rows[0]).toMatch(/^[1-9]/);
      expect(new Set(rows).size).toBe(1);
    }
  }

  test("starts as cluster.md says, and counts lines and overrides exactly on every replica", async () => {
    await imports.send(120_000);
    await expectEqualReplicas();
  });

  test("a replica and a Keeper, stopped in the middle of an import and started again, cost and double no line", async () => {
    await imports.during(() => installed.compose("stop", "b2", "keeper1"));
    // The one that was stopped may still fetch what the other has.
    await vi.waitFor(expectEqualReplicas, { timeout: 120_000, interval: 1_000 });
  });
}

describeWithDocker("deploy/compose-cluster.yaml", onCluster, [
  composeImage("keeper1", "compose-cluster.yaml"),
]);
