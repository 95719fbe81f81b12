import { expect, test } from "vitest";
import { brokerSettings, propertiesText } from "../../broker/broker-settings.js";

const place = { port: 9092, controllerPort: 9093, logDir: "/data" };

test("a broker listens on this machine only and advertises that address", () => {
  expect(brokerSettings(place)).toMatchObject({
    listeners: "PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093",
    "advertised.listeners": "PLAINTEXT://127.0.0.1:9092",
    "controller.quorum.voters": "1@127.0.0.1:9093",
    "auto.create.topics.enable": false,
  });
});

test("three brokers know each other, and lose one without losing what they answered for", () => {
  expect(brokerSettings({ ...place, quorum: [9100, 9093, 9102] })).toMatchObject({
    "node.id": 2,
    "controller.quorum.voters": "1@127.0.0.1:9100,2@127.0.0.1:9093,3@127.0.0.1:9102",
    "min.insync.replicas": 2,
    "offsets.topic.replication.factor": 3,
    "transaction.state.log.min.isr": 2,
  });
});

test("a broker in a container listens on all interfaces and advertises the address of this machine", () => {
  expect(brokerSettings({ ...place, host: "0.0.0.0" })).toMatchObject({
    listeners: "PLAINTEXT://0.0.0.0:9092,CONTROLLER://127.0.0.1:9093",
    "advertised.listeners": "PLAINTEXT://127.0.0.1:9092",
  });
});

test("a backslash in a path survives the properties file", () => {
  expect(propertiesText({ "log.dirs": "C:\\kafka", "node.id": 1 })).toBe("log.dirs=C:\\\\kafka\nnode.id=1\n");
});
