import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { describeWithJavaBroker } from "../support/describe-with-broker.js";
import { startFailing } from "../support/start-failing.js";
import { startToolchain } from "../support/start-toolchain.js";

/** What a broker takes that nobody has set up otherwise. */
const settings = { "group.min.session.timeout.ms": 6_000 };

describeWithJavaBroker(
  "the start and the end of the program on a broker",
  (broker) => {
    const connection = () => ({ KAFKA_BROKERS: broker().brokers.join(","), KAFKA_PARTITIONS: "2" });

    test("a program that its consumer group does not take ends with the broker's reason", async () => {
      const folder = await mkdtemp(join(tmpdir(), "refused-"));
      onTestFinished(() => rm(folder, { recursive: true, force: true }));
      const env = { ...connection(), DATA_DIR: join(folder, "data"), KAFKA_SESSION_TIMEOUT_MS: "1000" };
      const { status, said } = await startFailing(env);
      expect(said).toEqual([
        expect.stringMatching(/KAFKA_SESSION_TIMEOUT_MS=1000 .*\(INVALID_SESSION_TIMEOUT\)/),
      ]);
      expect(status).toBe(1);
    });

    test("an idle program whose broker is gone drains in time, with status 0", async () => {
      await using toolchain = await startToolchain({ env: connection() });
      await broker().kill("SIGKILL");
      const askedAt = performance.now();
      expect(await toolchain.kill("SIGTERM"), toolchain.log()).toBe(0);
      expect(performance.now() - askedAt).toBeLessThan(19_000);
    });
  },
  { settings },
);
