import { readFileSync } from "node:fs";
import { parseDocument } from "htmlparser2";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { type ListedShard, parseConfig, parseShards } from "../../../../deploy/config/config.js";
import { ROLES } from "../../../../deploy/config/variables.js";
import { composeImage } from "../../../support/stores/database-servers.js";

const text = (path: string) => readFileSync(path, "utf8");
const yaml = <T>(path: string) => parse(text(path), { merge: true }) as T;

const CLUSTER = "deploy/clickhouse/cluster.xml";
const KEEPER = "deploy/clickhouse/keeper.xml";
const DEFAULT_CLUSTER = "maintainer";

type Node = ReturnType<typeof parseDocument>["children"][number];
const childrenOf = (node: Node | ReturnType<typeof parseDocument>): Node[] =>
  "children" in node ? node.children : [];
const named = (node: Node | ReturnType<typeof parseDocument>, name: string): Node[] =>
  childrenOf(node).flatMap((child) => [
    ...("name" in child && child.name === name ? [child] : []),
    ...named(child, name),
  ]);
const textOf = (node: Node): string =>
  "data" in node ? node.data : childrenOf(node).map(textOf).join("").trim();
const textsIn = (node: Node | ReturnType<typeof parseDocument>, name: string) =>
  named(node, name).map(textOf);
const xml = (path: string) => parseDocument(text(path), { xmlMode: true });
/** The variables that a file takes from the environment. */
const variablesOf = (path: string) =>
  new Set([...text(path).matchAll(/from_env="(\w+)"/g)].map(([, name = ""]) => name));

const shardsOf = (value: string | undefined): readonly ListedShard[] => {
  const shards = parseShards(value ?? "");
  if (typeof shards === "string") throw new Error(shards);
  return shards;
};
const hostsOf = (shards: readonly ListedShard[]) =>
  shards.map(({ servers }) => servers.map((server) => new URL(server).hostname));

interface Service {
  image?: string;
  hostname?: string;
  environment: Record<string, string | number>;
  volumes?: string[];
}

describe("compose-cluster.yaml", () => {
  const { services } = yaml<{ services: Record<string, Service> }>("deploy/compose-cluster.yaml");
  const servers = Object.entries(services).filter(([, service]) =>
    service.volumes?.some((volume) => volume.includes("cluster.xml")),
  );
  const keepers = Object.entries(services).filter(([name]) => name.startsWith("keeper"));
  /** Beside the one of compose.yaml. */
  const brokers = ["kafka2", "kafka3"].map((name) => services[name]?.environment ?? {});
  const value = String(services["api"]?.environment["CLICKHOUSE_SHARDS"]);
  const shards = shardsOf(value);

  test.each(ROLES)("names the same shards to %s, in a form that the program takes", (role) => {
    const { KAFKA_BROKERS: names, ...others } = services[role]?.environment ?? {};
    expect(others).toEqual({ CLICKHOUSE_SHARDS: value });
    expect(brokers.map(({ KAFKA_ADVERTISED_LISTENERS: address }) => String(address).split("//")[1])).toEqual(
      String(names).split(",").slice(1),
    );
    const url = "http://maintainer:abc@clickhouse:8123/maintainer";
    expect(() => parseConfig({ CLICKHOUSE_URL: url, CLICKHOUSE_SHARDS: value })).not.toThrow();
  });

  test("gives each server the macros of its place in the shards", () => {
    const places = servers.map(([name, { hostname = name, environment }]) => ({ hostname, environment }));
    const expected = shards.flatMap(({ name, servers: urls }) =>
      urls.map((url) => ({ shard: name, replica: new URL(url).hostname })),
    );
    expect(
      places.map(({ environment }) => ({
        shard: environment["CLICKHOUSE_SHARD"],
        replica: environment["CLICKHOUSE_REPLICA"],
      })),
    ).toEqual(expected);
    expect(places.map(({ hostname }) => hostname)).toEqual(hostsOf(shards).flat());
  });

  test("sets every variable of the files, and no secret in plain text", () => {
    for (const [, { environment }] of servers) {
      expect(Object.keys(environment)).toEqual(expect.arrayContaining([...variablesOf(CLUSTER)]));
      for (const secret of ["CLICKHOUSE_PASSWORD", "CLUSTER_SECRET"])
        expect(environment[secret]).toMatch(new RegExp(`^\\$\\{${secret}:\\?set ${secret} in deploy/\\.env`));
    }
    for (const [, { environment }] of keepers)
      expect(new Set(Object.keys(environment))).toEqual(variablesOf(KEEPER));
  });

  test("runs brokers, servers and keepers of one version, that of compose.yaml", () => {
    const [, version] = composeImage("clickhouse").split(":");
    const images = Object.values(services).flatMap(({ image }) => image ?? []);
    expect(new Set(images)).toEqual(
      new Set([
        composeImage("kafka"),
        `clickhouse/clickhouse-server:${version}`,
        `clickhouse/clickhouse-keeper:${version}`,
      ]),
    );
  });

  test("has three keepers with the ids and names that they know one another by", () => {
    const servers = named(xml(KEEPER), "server");
    const known = servers.map((server) => [...textsIn(server, "hostname"), Number(textsIn(server, "id")[0])]);
    expect(keepers.map(([name, { environment }]) => [name, environment["KEEPER_ID"]])).toEqual(known);
    expect(keepers).toHaveLength(3);
  });

  test("has the same servers in cluster.xml, one copy of a row sent to each shard", () => {
    const [cluster] = named(xml(CLUSTER), DEFAULT_CLUSTER) as [Node];
    const known = named(cluster, "shard").map((shard) => textsIn(shard, "host"));
    expect(known).toEqual(hostsOf(shards));
    expect(textsIn(cluster, "internal_replication")).toEqual(shards.map(() => "true"));
    const [zookeeper] = named(xml(CLUSTER), "zookeeper") as [Node];
    expect(textsIn(zookeeper, "host")).toEqual(keepers.map(([name]) => name));
    const [port] = textsIn(xml(KEEPER), "tcp_port");
    expect(new Set(textsIn(zookeeper, "port"))).toEqual(new Set([port]));
  });
});

describe("the custom resources of ClickHouse", () => {
  interface Resource {
    apiVersion: string;
    kind: string;
    metadata: { name: string };
    spec: {
      configuration: {
        clusters: {
          name: string;
          layout: { shardsCount: number; replicasCount: number };
          schemaPolicy?: object;
          pdbMaxUnavailable: number;
        }[];
        zookeeper: { nodes: { host: string; port: number }[] };
        settings: Record<string, unknown>;
        users: Record<string, unknown>;
      };
      defaults: { templates: { podTemplate: string; dataVolumeClaimTemplate: string } };
      templates: {
        podTemplates: {
          name: string;
          spec: { securityContext: object; containers: { image: string; securityContext: object }[] };
        }[];
        volumeClaimTemplates: { name: string }[];
      };
    };
  }
  /** What `helm template` made of the chart. */
  const documents = parseAllDocuments(text("test/fixtures/chart/cluster.yaml"));
  const ofKind = <T>(kind: string) =>
    documents.map((it) => it.toJS() as T & { kind: string }).filter((each) => each.kind === kind);
  const [server] = ofKind<Resource>("ClickHouseInstallation") as [Resource];
  const [keeper] = ofKind<Resource>("ClickHouseKeeperInstallation") as [Resource];

  test("are of the versions that the operator has", () => {
    expect([server, keeper].map(({ apiVersion }) => apiVersion)).toEqual([
      "clickhouse.altinity.com/v1",
      "clickhouse-keeper.altinity.com/v1",
    ]);
  });

  test("let one server and one keeper be evicted at a time, by the operator's own budget", () => {
    for (const { spec } of [server, keeper])
      expect(spec.configuration.clusters).toMatchObject([{ pdbMaxUnavailable: 1 }]);
    const budgets = ofKind<{ spec: object }>("PodDisruptionBudget");
    expect(JSON.stringify(budgets)).not.toContain("altinity");
  });

  test("let in the program, the operator and one another, on the ports that they speak on", () => {
    interface Policy {
      spec: {
        podSelector: { matchLabels: object };
        ingress: { from: object[]; ports: { port: number }[] }[];
      };
    }
    const policies = ofKind<Policy>("NetworkPolicy").slice(1);
    const allowed = policies.map(({ spec }) => [
      spec.podSelector.matchLabels,
      ...spec.ingress.map(({ ports }) => ports.map(({ port }) => port)),
    ]);
    expect(allowed).toEqual([
      [{ "clickhouse.altinity.com/chi": server.metadata.name }, [8123], [8123, 9000, 9009]],
      [{ "clickhouse-keeper.altinity.com/chk": keeper.metadata.name }, [2181], [9444]],
    ]);
  });

  test("make the servers that CLICKHOUSE_SHARDS names, and leave the tables to the program", () => {
    const [configuration] = ofKind<{ data: Record<string, string> }>("ConfigMap");
    const [cluster] = server.spec.configuration.clusters as [
      Resource["spec"]["configuration"]["clusters"][0],
    ];
    const { shardsCount, replicasCount } = cluster.layout;
    const expected = Array.from({ length: shardsCount }, (_, shard) =>
      Array.from(
        { length: replicasCount },
        (_, replica) => `chi-${server.metadata.name}-${cluster.name}-${shard}-${replica}`,
      ),
    );
    expect(hostsOf(shardsOf(configuration?.data["CLICKHOUSE_SHARDS"]))).toEqual(expected);
    expect(cluster).toMatchObject({
      name: DEFAULT_CLUSTER,
      schemaPolicy: { replica: "None", shard: "None" },
    });
  });

  test("find the keepers by their service, and have three of them", () => {
    const { nodes } = server.spec.configuration.zookeeper;
    const port = Number(keeper.spec.configuration.settings["keeper_server/tcp_port"]);
    expect(nodes).toEqual([{ host: `keeper-${keeper.metadata.name}`, port }]);
    expect(keeper.spec.configuration.clusters[0]?.layout.replicasCount).toBe(3);
  });

  test("take passwords from a secret, and name replicas as cluster.xml does", () => {
    const { users, settings } = server.spec.configuration;
    const secrets = Object.entries({ ...users, ...settings }).filter(([name]) => /password/.test(name));
    expect(secrets).toHaveLength(2);
    for (const [, value] of secrets)
      expect(value).toMatchObject({ valueFrom: { secretKeyRef: { name: "clickhouse" } } });
    for (const name of ["default_replica_path", "default_replica_name"])
      expect([settings[name]]).toEqual(textsIn(xml(CLUSTER), name));
  });

  test.each([server, keeper])("may run in a namespace for restricted pods", ({ spec }) => {
    for (const { spec: pod } of spec.templates.podTemplates) {
      expect(pod.securityContext).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: "RuntimeDefault" },
      });
      for (const { securityContext } of pod.containers)
        expect(securityContext).toEqual({
          allowPrivilegeEscalation: false,
          capabilities: { drop: ["ALL"] },
        });
    }
  });

  test.each([server, keeper])("use templates that they have, and pinned images", ({ spec }) => {
    const { podTemplate, dataVolumeClaimTemplate } = spec.defaults.templates;
    expect(spec.templates.podTemplates.map(({ name }) => name)).toEqual([podTemplate]);
    expect(spec.templates.volumeClaimTemplates.map(({ name }) => name)).toEqual([dataVolumeClaimTemplate]);
    const [, version] = composeImage("clickhouse").split(":");
    for (const { image } of spec.templates.podTemplates.flatMap(({ spec: pod }) => pod.containers))
      expect(image.split(":")[1]).toBe(version);
  });
});
