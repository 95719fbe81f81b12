import { describe, expect, test } from "vitest";
import { parseConfig } from "../../../../deploy/config/config.js";
import { StartFailure } from "../../../../deploy/process/start-failure.js";
import { requireSharedStores } from "../../../../deploy/roles/require-shared-stores.js";

const SHARED = {
  KAFKA_BROKERS: "127.0.0.1:9092",
  DATABASE_URL: "postgres://127.0.0.1/app",
  CLICKHOUSE_URL: "http://127.0.0.1:8123",
  SECRET_KEY: Buffer.alloc(32, 7).toString("base64"),
};
const { KAFKA_BROKERS: _, ...DATABASES } = SHARED;

const starting = (env: Record<string, string>) => () => requireSharedStores(parseConfig(env));

describe("roles in processes of their own", () => {
  test.each(["api", "collect", "enrich", "jobs", "api,enrich", "enrich,jobs", "collect,enrich,jobs"])(
    "%s starts where every store is shared, and not where one is embedded",
    (ROLES) => {
      expect(starting({ ...SHARED, ROLES })).not.toThrow();
      expect(starting({ ...DATABASES, ROLES })).toThrow(StartFailure);
      expect(starting({ ...DATABASES, ROLES })).toThrow("set KAFKA_BROKERS, or add ");
    },
  );

  test("are refused with what to set", () => {
    expect(starting({ ROLES: "api,collect" })).toThrow(
      "ROLES does not include enrich and jobs, but other processes cannot use this process's embedded " +
        "stores: set KAFKA_BROKERS, DATABASE_URL and CLICKHOUSE_URL, or add enrich and jobs to ROLES",
    );
  });
});

test.each(["api,enrich,jobs", "api,collect,enrich,jobs"])("%s together may have any stores", (ROLES) => {
  expect(starting({ ROLES })).not.toThrow();
  expect(starting({ ...DATABASES, ROLES })).not.toThrow();
  expect(starting({ ...SHARED, ROLES })).not.toThrow();
});
