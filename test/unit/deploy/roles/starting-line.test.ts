import { expect, test } from "vitest";
import { parseConfig } from "../../../../deploy/config/config.js";
import { startingLine } from "../../../../deploy/commands/start.js";

const DATABASE_URL = "postgres://u:p@db.example/x";
const SECRET_KEY = Buffer.alloc(32).toString("base64");

const postgres = { DATABASE_URL, SECRET_KEY };
const elsewhere = { CLICKHOUSE_URL: "http://ch.example:8123", KAFKA_BROKERS: "kafka.example:9092" };

test.each<[Record<string, string>, string]>([
  [{}, "Starting PostgreSQL, ClickHouse and the event log in /srv/data ..."],
  [postgres, "Starting ClickHouse and the event log in /srv/data, connecting to PostgreSQL ..."],
  [{ ...postgres, ...elsewhere }, "Connecting to PostgreSQL, ClickHouse and Kafka ..."],
])("says which stores a start with %j begins, and where, without passwords", (env, line) => {
  expect(startingLine(parseConfig({ DATA_DIR: "/srv/data", ...env }))).toBe(line);
});
