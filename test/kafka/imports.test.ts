import { afterAll, beforeAll, expect, test } from "vitest";
import { type ApiClient, connectApi } from "../../deploy/demo/api-client.js";
import { generateBody } from "../../deploy/demo/generate-events.js";
import { describeWithBroker } from "../support/stores/describe-with-broker.js";
import { expectedOutcome, outcomeOf } from "../support/imports/import-outcome.js";
import { makeOrganization, makePackage } from "../support/imports/make-artifacts.js";
import { openRecount, type RecountBodies } from "../support/imports/open-recount.js";
import { readUntil } from "../support/program/read-until.js";
import type { KnownArtifact } from "../support/imports/recount-line.js";
import { startToolchain, type Toolchain } from "../support/program/start-toolchain.js";

const RANGE = { startDate: "2025-03-01", endDate: "2025-05-01" };
const ORGANIZATION = "on-kafka";

describeWithBroker("the program on a Kafka broker", (broker) => {
  let toolchain: Toolchain;
  let api: ApiClient;
  let recountBodies: RecountBodies;
  let artifact: KnownArtifact;
  let path: string;

  beforeAll(async () => {
    const env = {
      KAFKA_BROKERS: broker().brokers.join(","),
      KAFKA_TOPIC_PREFIX: `imports-${Date.now()}.`,
      KAFKA_PARTITIONS: "8",
      // How long the partitions of a killed program wait for it.
      KAFKA_SESSION_TIMEOUT_MS: "6000",
    };
    [toolchain, recountBodies] = await Promise.all([startToolchain({ env }), openRecount()]);
    api = await toolchain.newAccount("ada");
    await makeOrganization(api, ORGANIZATION);
    await toolchain.admin("grant-export", ORGANIZATION);
    artifact = await makePackage(api, { organization: ORGANIZATION, name: "image", libraryType: "docker" });
    path = `/v2/packages/${ORGANIZATION}/${artifact.id}/import`;
  });

  afterAll(() => toolchain?.close());

  const bodyOf = (part: { count: number; startAt: number }) => {
    const packages = [{ id: artifact.id, libraryType: "docker" as const }];
    const mix = { seed: 47, clients: 3_000, overrideShare: 0.2, from: "2025-03-10", days: 30, packages };
    return Buffer.concat([...generateBody({ ...mix, ...part })]);
  };

  test("an import is done exactly, also when the program is killed on the way", async () => {
    const bodies = [bodyOf({ count: 30_000, startAt: 0 }), bodyOf({ count: 30_000, startAt: 30_000 })];
    const expected = recountBodies(
      bodies.map((bytes) => ({ bytes, target: artifact.id })),
      [artifact],
    );
    const records = [];
    for (const body of bodies) {
      const started = await api.importBody(path, body, { gzip: true });
      await toolchain.kill("SIGKILL");
      await toolchain.restart();
      api = connectApi(toolchain.api, api.token);
      records.push(await api.pollToDone(started));
    }
    expect(records.map(outcomeOf)).toEqual(expected.imports.map(expectedOutcome));
    const { aggregates } = expected;
    await readUntil(api, ORGANIZATION, { packageId: artifact.id, range: RANGE, expected: aggregates });
  }, 180_000);

  test("what was killed is ready again, and says how far its log is behind", async () => {
    expect((await fetch(`${toolchain.api}/readyz`)).status).toBe(200);
    const metrics = await (await fetch(`${toolchain.endpoints.metrics}/metrics`)).text();
    expect(metrics).toMatch(/^event_log_lag_records 0$/m);
  });
});
