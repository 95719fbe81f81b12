import { expect, test } from "vitest";
import {
  containerName,
  dockerEnvironment,
  isDockerThere,
  KAFKA_IMAGE,
  runArguments,
} from "../../broker/docker-broker.js";

test("the container's port is open to this machine only, and its data survives it", () => {
  const args = runArguments({ name: "broker", port: 19092 });
  expect(args[0]).toBe("run");
  expect(args).toEqual(
    expect.arrayContaining([
      "--rm",
      "--name=broker",
      "--publish=127.0.0.1:19092:19092",
      "--volume=broker:/var/lib/kafka/data",
      "--env=KAFKA_LISTENERS=PLAINTEXT://0.0.0.0:19092,CONTROLLER://127.0.0.1:9093",
      "--env=KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://127.0.0.1:19092",
      "--env=KAFKA_LOG_DIRS=/var/lib/kafka/data",
      "--env=KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR=1",
      "--env=KAFKA_AUTO_CREATE_TOPICS_ENABLE=false",
    ]),
  );
  expect(args.at(-1)).toBe(KAFKA_IMAGE);
});

test("the controller uses another port when the broker has its own", () => {
  expect(dockerEnvironment(9093)).toMatchObject({
    KAFKA_LISTENERS: "PLAINTEXT://0.0.0.0:9093,CONTROLLER://127.0.0.1:9094",
    KAFKA_CONTROLLER_QUORUM_VOTERS: "1@127.0.0.1:9094",
  });
});

test("each folder has its own container, always with the same name", () => {
  expect(containerName("/one")).toBe(containerName("/one"));
  expect(containerName("/one")).not.toBe(containerName("/other"));
  expect(containerName("/one")).toMatch(/^[a-z0-9-]+$/);
});

test("Docker is not available without a client", async () => {
  expect(await isDockerThere({ PATH: "/nowhere" })).toBe(false);
});
