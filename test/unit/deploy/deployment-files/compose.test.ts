import { readFileSync, statSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { parseConfig } from "../../../../deploy/config/config.js";
import { ROLES, VARIABLES } from "../../../../deploy/config/variables.js";
import { mistypedVariables } from "../../../../deploy/process/mistyped-variables.js";
import { KAFKA_IMAGE } from "../../../broker/docker-broker.js";

const text = (path: string) => readFileSync(path, "utf8");

/** Compares the files' promises with the program, so that neither changes alone. */
const DEFAULTS = parseConfig({});
const PORT_OF: Record<string, number> = { api: DEFAULTS.http.port, collect: DEFAULTS.collect.port };
const VERSION = (JSON.parse(text("package.json")) as { version: string }).version;
const DRAIN_SECONDS = 20;

interface Service {
  image: string;
  environment: Record<string, string | number>;
  ports?: string[];
  networks: string[];
  env_file?: string[];
  healthcheck?: { test: string[]; interval: string };
  stop_grace_period: string;
  depends_on?: Record<string, { condition: string }>;
  deploy: { resources: { limits: { cpus: string; memory: string } } };
  read_only?: boolean;
  cap_drop?: string[];
}

const composeText = text("deploy/compose.yaml");
const compose = parse(composeText, { merge: true }) as {
  services: Record<string, Service>;
  volumes: Record<string, unknown>;
  networks: Record<string, { internal?: boolean } | null>;
};
const services = Object.entries(compose.services);
const roleServices = services.filter(([name]) => ROLES.some((role) => role === name));
const storeServices = services.filter(([name]) => !ROLES.some((role) => role === name));

/** The value with everything of env.example filled in. */
const FILLED: Record<string, string> = {
  SECRET_KEY: "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
  POSTGRES_PASSWORD: "abc123",
  CLICKHOUSE_PASSWORD: "def456",
  KAFKA_CLUSTER_ID: "MkU3OEVBNTcwNTJENDM2Qg",
};
const filled = (value: string | number) =>
  String(value).replace(/\$\{(\w+):([?-])([^}]*)\}/g, (_, name: string, kind: string, rest: string) =>
    kind === "-" ? rest : (FILLED[name] ?? "unknown"),
  );
const filledEnvironment = ({ environment }: Service) =>
  Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, filled(value)]));

describe("compose.yaml", () => {
  test("has a service for each role and each store", () => {
    expect(roleServices.map(([name]) => name)).toEqual([...ROLES]);
    expect(storeServices.map(([name]) => name)).toEqual(["kafka", "postgres", "clickhouse"]);
  });

  test.each(roleServices)("starts %s with variables that the program takes", (role, service) => {
    const variables = filledEnvironment(service);
    expect(Object.keys(VARIABLES)).toEqual(expect.arrayContaining(Object.keys(variables)));
    expect(() => parseConfig(variables)).not.toThrow();
    expect(variables).toMatchObject({
      ROLES: role,
      KAFKA_BROKERS: "kafka:9092",
      DATABASE_URL: `postgres://maintainer:${FILLED["POSTGRES_PASSWORD"]}@postgres:5432/maintainer`,
      CLICKHOUSE_URL: `http://maintainer:${FILLED["CLICKHOUSE_PASSWORD"]}@clickhouse:8123/maintainer`,
    });
  });

  test("hands every variable of .env to every role; none of the file's own looks like a slip of the keyboard", () => {
    for (const [, { env_file: files }] of roleServices) expect(files).toEqual([".env"]);
    const named = [...text("deploy/env.example").matchAll(/^(?:# )?([A-Z_]+)=/gm)].map(
      ([, name = ""]) => name,
    );
    expect(named.length).toBeGreaterThan(8);
    const env = Object.fromEntries(named.map((name) => [name, "value"]));
    expect(mistypedVariables(env, Object.keys(VARIABLES))).toEqual([]);
  });

  test.each(roleServices)("gives %s time to drain, the stores first, and no rights", (_, service) => {
    expect(parseInt(service.stop_grace_period)).toBeGreaterThan(DRAIN_SECONDS);
    expect(service.depends_on).toEqual(
      Object.fromEntries(storeServices.map(([name]) => [name, { condition: "service_healthy" }])),
    );
    expect(service).toMatchObject({
      image: `maintainer-toolchain:${VERSION}`,
      read_only: true,
      cap_drop: ["ALL"],
    });
  });

  test.each(roleServices)("asks %s whether it is ready, on the metrics port", (_, { healthcheck }) => {
    expect(healthcheck?.test.join(" ")).toContain(`http://127.0.0.1:${DEFAULTS.metrics.port}/readyz`);
  });

  test.each(services)("limits %s, and runs a pinned image", (_, service) => {
    const { cpus, memory } = service.deploy.resources.limits;
    expect(cpus).toMatch(/^\d/);
    expect(memory).toMatch(/^\d+[MG]$/);
    expect(service.image).toMatch(/:\d+\.\d+(\.\d+)*(-\w+)?$/);
  });

  test.each(storeServices)("asks %s whether it is healthy, and keeps it away from outside", (_, service) => {
    expect(service.healthcheck?.test[0]).toBe("CMD");
    expect(service.ports).toBeUndefined();
    expect(service.networks).toEqual(["stores"]);
  });

  test("runs the Kafka that `npm run kafka` starts and that the tests run on", () => {
    expect(compose.services["kafka"]?.image).toBe(KAFKA_IMAGE);
  });

  test("needs nothing that Docker 20.10 lacks, or that only newer releases of Compose 2 have", () => {
    expect(composeText + text("deploy/compose-cluster.yaml")).not.toMatch(
      /start_interval|!override|!reset|required:/,
    );
    expect(text("deploy/Dockerfile")).not.toMatch(/^# syntax=|--start-interval/m);
  });

  test("mounts files that are there: of another the engine would make an empty folder", () => {
    const mounted = composeText + text("deploy/compose-cluster.yaml");
    const files = [...mounted.matchAll(/- \.\/(\S+?):\//g)].map(([, path = ""]) => `deploy/${path}`);
    expect(files.length).toBeGreaterThan(5);
    expect(files.filter((path) => !statSync(path, { throwIfNoEntry: false })?.isFile())).toEqual([]);
  });

  test("publishes the API and collection alone, on this machine unless told otherwise", () => {
    const published = services.flatMap(([name, { ports = [] }]) => ports.map((port) => [name, filled(port)]));
    expect(published).toEqual(
      Object.entries(PORT_OF).map(([name, port]) => [name, `127.0.0.1:${port}:${port}`]),
    );
    expect(compose.networks["stores"]).toEqual({ internal: true });
  });

  test("gives enrichment as many workers as CPUs", () => {
    const { environment, deploy } = compose.services["enrich"] as Service;
    expect(environment["ENRICH_WORKERS"]).toBe(deploy.resources.limits.cpus);
  });

  test("holds no secret: each comes from the environment; those it needs are required with a sentence, and named in env.example", () => {
    const secrets = services.flatMap(([, { environment }]) =>
      Object.entries(environment).filter(([name]) => /SECRET|PASSWORD|_URL$|CLUSTER_ID/.test(name)),
    );
    expect(secrets.length).toBeGreaterThan(6);
    const fromEnvironment = /\$\{\w+:\?set \w+ in deploy\/\.env/;
    expect(secrets.filter(([, value]) => !fromEnvironment.test(String(value)))).toEqual([]);
    const required = new Set([...composeText.matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name));
    const example = [...text("deploy/env.example").matchAll(/^(\w+)=$/gm)].map(([, name]) => name);
    expect(new Set(example)).toEqual(required);
  });
});
