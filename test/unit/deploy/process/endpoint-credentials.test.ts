import { expect, test } from "vitest";
import { endpointCredentials } from "../../../../deploy/process/data-dir.js";

test("credentials of URLs stand apart, decoded, and those without have none", () => {
  const endpoints = {
    api: "http://127.0.0.1:8080",
    clickhouse: "http://default:p%40ss%2Fword@127.0.0.1:8123/?database=maintainer",
    postgres: "postgres://service:100%@127.0.0.1:5432/maintainer",
    metrics: undefined,
  };
  const parts = endpointCredentials(endpoints);
  expect(parts).toEqual({
    clickhouse: {
      url: "http://127.0.0.1:8123/?database=maintainer",
      username: "default",
      password: "p@ss/word",
    },
    postgres: { url: "postgres://127.0.0.1:5432/maintainer", username: "service", password: "100%" },
  });
  expect(() => new Request(endpoints.clickhouse)).toThrow("credentials");
  expect(() => new Request(parts["clickhouse"]?.url ?? "")).not.toThrow();
});
