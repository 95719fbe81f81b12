import { expect, test } from "vitest";
import { isDockerThere, KAFKA_IMAGE, runArguments } from "../../broker/docker-broker.js";

test("the container's port is open to this machine only, and its data survives it", () => {
  const args = runArguments({ name: "broker", port: 9093 });
  expect(args).toEqual(
    expect.arrayContaining([
      "--publish=127.0.0.1:9093:9093",
      "--volume=broker:/var/lib/kafka/data",
      "--env=KAFKA_LISTENERS=PLAINTEXT://0.0.0.0:9093,CONTROLLER://127.0.0.1:9094",
      "--env=KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://127.0.0.1:9093",
      "--env=KAFKA_LOG_DIRS=/var/lib/kafka/data",
    ]),
  );
  expect(args.at(-1)).toBe(KAFKA_IMAGE);
});

test("no two brokers have one cluster id, as those of the image would", () => {
  const idOf = (name: string) =>
    runArguments({ name, port: 9092 }).find((arg) => arg.startsWith("--env=CLUSTER_ID="));
  expect(idOf("one")).toMatch(/=[\w-]{22}$/);
  expect(idOf("one")).not.toBe(idOf("other"));
});

test("Docker is not available without a client", async () => {
  expect(await isDockerThere({ PATH: "/nowhere" })).toBe(false);
});
