import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { parseConfig } from "../../../../deploy/config/config.js";
import { ROLES, VARIABLES } from "../../../../deploy/config/variables.js";
import { ENRICH_GROUP, partitionsOf } from "../../../../schemas/records/event-log.js";

const text = (path: string) => readFileSync(path, "utf8");

/** Compares the files' promises with the program, so that neither changes alone. */
const DEFAULTS = parseConfig({});
const PORT_OF: Record<string, number> = { api: DEFAULTS.http.port, collect: DEFAULTS.collect.port };
const VERSION = (JSON.parse(text("package.json")) as { version: string }).version;
const DRAIN_SECONDS = 20;

/** How long kafkajs lets the members of a group take to come back when one joins, by default. */
const REBALANCE_SECONDS = 60;

interface Probe {
  httpGet: { path: string; port: string };
  periodSeconds: number;
  failureThreshold: number;
}

interface Container {
  name: string;
  image: string;
  env: { name: string; value: string }[];
  envFrom: { configMapRef?: { name: string }; secretRef?: { name: string } }[];
  ports: { name: string; containerPort: number }[];
  startupProbe: Probe;
  readinessProbe?: Probe;
  livenessProbe: Probe;
  lifecycle?: { preStop: { exec: { command: string[] } } };
  resources: {
    requests: { cpu: string; memory: string };
    limits: { cpu?: string; memory: string };
  };
  securityContext: object;
  volumeMounts: { name: string; mountPath: string }[];
}

interface Selector {
  matchLabels: Record<string, string>;
}

interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  data: Record<string, string>;
  spec: {
    replicas: number;
    selector: Selector & Record<string, unknown>;
    ports: { port: number; targetPort: string }[];
    maxUnavailable: number | string;
    ingress: { ports: { port: number }[] }[];
    template: {
      metadata: { labels: Record<string, string>; annotations: Record<string, string> };
      spec: {
        enableServiceLinks: boolean;
        automountServiceAccountToken: boolean;
        terminationGracePeriodSeconds: number;
        securityContext: object;
        containers: Container[];
        volumes: { name: string; emptyDir?: object; secret?: { secretName: string } }[];
      };
    };
    maxReplicaCount: number;
    triggers: { type: string; metadata: Record<string, string> }[];
    scaleTargetRef: { name: string; envSourceContainerName: string };
  };
}

/** What `helm template` made of the chart: test/paths/helm-chart.sh writes it. */
const RENDERED = "test/fixtures/chart";
const rendered = (name: string) =>
  parseAllDocuments(text(join(RENDERED, name))).map((it) => it.toJS() as Manifest);

const manifests = rendered("external.yaml");
const ofKind = (kind: string, among = manifests) => among.filter((manifest) => manifest.kind === kind);
const nameOf = (role: string) => `maintainer-toolchain-${role}`;
const deploymentOf = (role: string) =>
  ofKind("Deployment").find(({ metadata }) => metadata.name === nameOf(role)) as Manifest;
const containerOf = (role: string) => deploymentOf(role).spec.template.spec.containers[0] as Container;

/** As test/paths/helm-chart.sh computes it: of everything but the version, which a release changes. */
function chartDigest(): string {
  const files = readdirSync("deploy/chart", { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== "Chart.yaml")
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  return createHash("sha256").update(files.map(text).join("")).digest("hex");
}

describe("the chart", () => {
  test.each(readdirSync(RENDERED))("is the one that %s was made of", (name) => {
    expect(text(join(RENDERED, name)).split("\n")[0]).toBe(`# sha256 of the chart: ${chartDigest()}`);
  });

  test("has the version of the program, and its image", () => {
    const chart = parse(text("deploy/chart/Chart.yaml")) as { version: string; appVersion: string };
    expect(chart).toMatchObject({ version: VERSION, appVersion: VERSION });
    for (const role of ROLES) expect(containerOf(role).image).toMatch(/\/maintainer-toolchain:VERSION$/);
  });

  test("gives pods another checksum when the configuration is another", () => {
    const checksums = (name: string) =>
      ofKind("Deployment", rendered(name)).map(
        ({ spec }) => spec.template.metadata.annotations["checksum/config"],
      );
    const [one, other] = [checksums("external.yaml"), checksums("cluster.yaml")];
    expect(new Set(one).size).toBe(1);
    expect(one[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(one[0]).not.toBe(other[0]);
  });

  test("lets monitoring in from the namespace that is given", () => {
    const from = (name: string) => JSON.stringify(ofKind("NetworkPolicy", rendered(name))[0]?.spec.ingress);
    expect(from("external.yaml")).toContain('"kubernetes.io/metadata.name":"monitoring"');
    expect(from("cluster.yaml")).toContain('"kubernetes.io/metadata.name":"observability"');
  });

  test("gives each role the files of certificates that its variables name, from the secrets of the stores", () => {
    const withTls = rendered("tls.yaml");
    const settings = ofKind("ConfigMap", withTls)[0]?.data ?? {};
    const secret = {
      SECRET_KEY: Buffer.alloc(32).toString("base64"),
      DATABASE_URL: "postgres://db/maintainer",
      CLICKHOUSE_URL: "https://clickhouse/maintainer",
    };
    expect(() => parseConfig({ ...settings, ...secret })).not.toThrow();
    const files = Object.values(parseConfig({ ...settings, ...secret }).tlsFiles);
    expect(files.map((each) => Object.keys(each))).toEqual([
      ["ca", "cert", "key"],
      ["ca"],
      ["ca", "cert", "key"],
    ]);
    for (const { spec } of ofKind("Deployment", withTls)) {
      const { containers, volumes } = spec.template.spec;
      const secretAt = (folder: string) => {
        const mount = containers[0]?.volumeMounts.find(({ mountPath }) => mountPath === folder);
        return volumes.find(({ name }) => name === mount?.name)?.secret?.secretName;
      };
      const paths = files.flatMap(({ ca, cert, key }) => [ca, cert, key].flatMap((path) => path ?? []));
      const secrets = new Set(paths.map((path) => secretAt(dirname(path))));
      expect(secrets).toEqual(new Set(["clickhouse-tls", "postgres-tls", "kafka-tls"]));
    }
  });

  test("runs one pod with embedded stores, on a volume whose files keep their modes", () => {
    const embedded = rendered("embedded.yaml");
    const [{ spec } = {} as Manifest, ...others] = ofKind("StatefulSet", embedded);
    expect(others).toEqual([]);
    expect(ofKind("Deployment", embedded)).toEqual([]);
    expect(spec.replicas).toBe(1);
    expect(spec.template.spec.containers[0]?.image).toMatch(/:VERSION-embedded$/);
    expect(spec.template.spec.securityContext).toMatchObject({ fsGroupChangePolicy: "OnRootMismatch" });
    const [container] = spec.template.spec.containers as [Container];
    expect(container.volumeMounts).toContainEqual({ name: "data", mountPath: "/data" });
    expect(container.ports.map(({ containerPort }) => containerPort)).toEqual([
      ...Object.values(PORT_OF),
      DEFAULTS.metrics.port,
    ]);
    expect(spec.selector.matchLabels).toEqual(spec.template.metadata.labels);
    for (const { spec: service } of ofKind("Service", embedded))
      expect(service.selector).toEqual(spec.template.metadata.labels);
  });
});

describe("the manifests for stores of one's own", () => {
  test("are of kinds and versions that Kubernetes has", () => {
    const API_VERSIONS: Record<string, string> = {
      ConfigMap: "v1",
      Service: "v1",
      Deployment: "apps/v1",
      PodDisruptionBudget: "policy/v1",
      NetworkPolicy: "networking.k8s.io/v1",
      ScaledObject: "keda.sh/v1alpha1",
    };
    expect(manifests.filter(({ kind, apiVersion }) => API_VERSIONS[kind] !== apiVersion)).toEqual([]);
    expect(ofKind("Deployment").map(({ metadata }) => metadata.name)).toEqual(ROLES.map(nameOf));
  });

  test.each(ROLES)("select the pods of %s by the labels that these have", (role) => {
    const { selector, template } = deploymentOf(role).spec;
    expect(selector.matchLabels).toEqual(template.metadata.labels);
    expect(selector.matchLabels["app.kubernetes.io/component"]).toBe(role);
    const budget = ofKind("PodDisruptionBudget").find(({ metadata }) => metadata.name === nameOf(role));
    expect(budget?.spec.selector.matchLabels).toEqual(selector.matchLabels);
  });

  test("leave the number of enrichers to the scaler, and have two or more of the others", () => {
    const numbers = ROLES.map((role) => [role, deploymentOf(role).spec.replicas]);
    expect(Object.fromEntries(numbers)).toEqual({ api: 2, collect: 2, enrich: undefined, jobs: 2 });
  });

  test.each(ROLES)("start %s with variables that the program takes", (role) => {
    const { env, envFrom } = containerOf(role);
    const variables = Object.fromEntries(env.map(({ name, value }) => [name, value]));
    const settings = ofKind("ConfigMap")[0]?.data ?? {};
    expect(variables["ROLES"]).toBe(role);
    const names = Object.keys({ ...settings, ...variables });
    expect(Object.keys(VARIABLES)).toEqual(expect.arrayContaining(names));
    expect(() => parseConfig({ ...settings, ...variables })).not.toThrow();
    expect(envFrom).toEqual([
      { configMapRef: { name: "maintainer-toolchain" } },
      { secretRef: { name: "maintainer-toolchain" } },
    ]);
  });

  test.each(ROLES)("run %s without rights, on a read-only file system with a folder for DATA_DIR", (role) => {
    const { spec } = deploymentOf(role).spec.template;
    expect(spec).toMatchObject({
      enableServiceLinks: false,
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: "RuntimeDefault" } },
    });
    const container = containerOf(role);
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    expect(container.volumeMounts).toEqual([{ name: "data", mountPath: "/data" }]);
    expect(spec.volumes).toMatchObject([{ name: "data", emptyDir: { medium: "Memory" } }]);
  });

  test.each(ROLES)("bound %s, and give it time to drain", (role) => {
    const { resources, lifecycle } = containerOf(role);
    expect(resources.requests.cpu).toMatch(/^\d+m?$/);
    expect(resources.requests.memory).toMatch(/^\d+[MG]i$/);
    expect(resources.limits.memory).toMatch(/^\d+[MG]i$/);
    const pauseSeconds = Number(lifecycle?.preStop.exec.command[1] ?? 0);
    const { terminationGracePeriodSeconds } = deploymentOf(role).spec.template.spec;
    expect(terminationGracePeriodSeconds).toBeGreaterThan(DRAIN_SECONDS + pauseSeconds);
  });

  test.each(Object.keys(PORT_OF))("ask %s on its port, and kill no pod for a store that is down", (role) => {
    const container = containerOf(role);
    expect(container.ports).toEqual([
      { name: "http", containerPort: PORT_OF[role] },
      { name: "metrics", containerPort: DEFAULTS.metrics.port },
    ]);
    expect(container).toMatchObject({
      startupProbe: { httpGet: { path: "/readyz", port: "http" } },
      readinessProbe: { httpGet: { path: "/healthz", port: "http" } },
      livenessProbe: { httpGet: { path: "/healthz", port: "http" } },
    });
    const service = ofKind("Service").find(({ metadata }) => metadata.name === nameOf(role));
    expect(service?.spec.ports).toMatchObject([{ port: PORT_OF[role], targetPort: "http" }]);
    expect(service?.spec.selector).toEqual(deploymentOf(role).spec.selector.matchLabels);
  });

  test.each(["enrich", "jobs"])(
    "ask %s on its metrics port, and kill no pod for a store that is down",
    (role) => {
      const container = containerOf(role);
      expect(container.ports).toEqual([{ name: "metrics", containerPort: DEFAULTS.metrics.port }]);
      expect(container).toMatchObject({
        startupProbe: { httpGet: { path: "/readyz", port: "metrics" } },
        readinessProbe: { httpGet: { path: "/readyz", port: "metrics" } },
        livenessProbe: { httpGet: { path: "/healthz", port: "metrics" } },
      });
    },
  );

  test("give an enricher the time to join in which each of its workers may wait for the others, one by one", () => {
    const { startupProbe, env } = containerOf("enrich");
    const workers = Number(env.find(({ name }) => name === "ENRICH_WORKERS")?.value);
    const joinSeconds =
      workers * (REBALANCE_SECONDS + Number(VARIABLES.KAFKA_SESSION_TIMEOUT_MS.default) / 1000);
    const { periodSeconds, failureThreshold } = startupProbe;
    expect(periodSeconds * failureThreshold).toBeGreaterThan(joinSeconds);
  });

  test("let in what the program listens on", () => {
    const ports = ofKind("NetworkPolicy").flatMap(({ spec }) => spec.ingress.flatMap((rule) => rule.ports));
    expect(ports.map(({ port }) => port)).toEqual([...Object.values(PORT_OF), DEFAULTS.metrics.port]);
  });

  test("give enrichment as many workers as CPUs", () => {
    const { env, resources } = containerOf("enrich");
    expect(env).toContainEqual({ name: "ENRICH_WORKERS", value: resources.limits.cpu });
  });

  test("hold no secret", () => {
    expect(ofKind("Secret")).toEqual([]);
    expect(JSON.stringify(manifests)).not.toMatch(/:\/\/[^/"]*:[^/"]*@|PASSWORD|SECRET_KEY/);
  });

  test("scale enrichers on the lag of the group that they consume as", () => {
    const [scaler] = ofKind("ScaledObject");
    expect(scaler?.spec.scaleTargetRef).toEqual({
      name: nameOf("enrich"),
      envSourceContainerName: containerOf("enrich").name,
    });
    expect(scaler?.spec.triggers).toMatchObject([
      {
        type: "kafka",
        metadata: {
          bootstrapServersFromEnv: "KAFKA_BROKERS",
          consumerGroup: ENRICH_GROUP,
          topic: "events.raw",
        },
      },
    ]);
    const workers = Number(containerOf("enrich").env.find(({ name }) => name === "ENRICH_WORKERS")?.value);
    expect((scaler?.spec.maxReplicaCount ?? 0) * workers).toBe(partitionsOf("bulk", 24).length);
  });
});
