import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { createApiMetrics } from "../../../../deploy/metrics/api-metrics.js";
import {
  createClusterMetrics,
  createRetentionMetrics,
  createScheduleMetrics,
} from "../../../../deploy/metrics/jobs-metrics.js";
import { createCollectMetrics } from "../../../../deploy/metrics/collect-metrics.js";
import { createPipelineMetrics, createRegistry } from "../../../../deploy/metrics/pipeline-metrics.js";
import { createSourceMetrics } from "../../../../deploy/metrics/source-metrics.js";
import { createWebhookMetrics } from "../../../../deploy/metrics/webhook-metrics.js";

const text = (path: string) => readFileSync(path, "utf8");

interface Panel {
  id: number;
  type: string;
  title: string;
  targets?: { expr: string }[];
}

const dashboard = JSON.parse(text("deploy/grafana/maintainer-toolchain.json")) as { panels: Panel[] };
const alerts = parse(text("deploy/prometheus/alerts.yaml")) as {
  groups: {
    rules: {
      alert: string;
      expr: string;
      labels: { severity: string };
      annotations: Record<string, string>;
    }[];
  }[];
};
const rules = alerts.groups.flatMap((group) => group.rules);
const dashboardExpressions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

/** The metrics of a process with every role. */
async function readDescriptions() {
  const registry = createRegistry();
  const none = async () => 0;
  createPipelineMetrics(registry, {
    eventLog: { lag: none },
    countDeadLetters: none,
    oldestErasure: none,
    oldestStagedBatch: async () => undefined,
  });
  createApiMetrics(registry, {
    activeUploads: () => 0,
    exportPermits: { used: () => 0 },
    onImportEnded: () => undefined,
  });
  createCollectMetrics(registry, { bufferBytes: () => 0, isFresh: () => true });
  createScheduleMetrics(registry, []);
  createRetentionMetrics(registry);
  createClusterMetrics(registry, { readServers: async () => [] });
  createSourceMetrics(registry);
  createWebhookMetrics(registry, { readBacklog: async () => ({ deliveries: 0, oldestSeconds: 0 }) });
  return registry.getMetricsAsJSON();
}

const isOurs = ({ name }: { name: string }) => !/^(process|nodejs)_/.test(name);

/** Every series of them, as Prometheus stores it. */
async function seriesNames(): Promise<Set<string>> {
  const metrics = await readDescriptions();
  const names = metrics.flatMap(({ name, type }) =>
    String(type) === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  );
  // Made by Prometheus itself at every scrape.
  return new Set([...names, "up"]);
}

/** Names that are followed by a selector: every series in these expressions has one. */
const namesIn = (expression: string) =>
  [...expression.matchAll(/([a-z_][a-z0-9_]*)\{/g)].map(([, name = ""]) => name);

describe("the dashboard and the alerts", () => {
  test("ask for nothing but what the program measures", async () => {
    const known = await seriesNames();
    const asked = [...dashboardExpressions, ...rules.map(({ expr }) => expr)].flatMap(namesIn);
    expect(asked.length).toBeGreaterThan(30);
    expect(asked.filter((name) => !known.has(name))).toEqual([]);
  });

  test("never add up what every process says of the whole system", () => {
    const whole = /event_log_lag_records|enrich_dead_letters|webhook_queue_/;
    const expressions = [...dashboardExpressions, ...rules.map(({ expr }) => expr)];
    const wrong = expressions.filter(
      (expr) => whole.test(expr) && !/max\((event_log|enrich_dead_letters|webhook_queue)/.test(expr),
    );
    expect(wrong).toEqual([]);
  });

  test("show every measure of ours, and what the processes use", async () => {
    const shown = new Set(dashboardExpressions.flatMap(namesIn));
    const measures = (await readDescriptions())
      .filter(isOurs)
      .map(({ name, type }) => (String(type) === "histogram" ? `${name}_bucket` : name));
    const wanted = [...measures, "process_resident_memory_bytes", "process_cpu_seconds_total"];
    expect(wanted.filter((name) => !shown.has(name))).toEqual([]);
  });

  test("say of each alert how bad it is and what to do", () => {
    expect(rules.length).toBeGreaterThan(5);
    const incomplete = rules.filter(
      ({ labels, annotations }) =>
        !["critical", "warning", "info"].includes(labels.severity) ||
        !annotations["summary"] ||
        !annotations["action"],
    );
    expect(incomplete).toEqual([]);
    const page = text("deploy/docs/reference/metrics.md");
    expect(rules.filter(({ alert }) => !page.includes(`\`${alert}\``))).toEqual([]);
  });

  test("has panels with ids of their own", () => {
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe("the program's own metrics", () => {
  test("are named after Prometheus' conventions and say what they are", async () => {
    const ours = (await readDescriptions()).filter(isOurs);
    expect(ours.length).toBeGreaterThan(15);
    const wrong = ours.filter(({ name, help, type }) => {
      const isCounter = String(type) === "counter";
      const inBaseUnit = String(type) !== "histogram" || name.endsWith("_seconds");
      return isCounter !== name.endsWith("_total") || !inBaseUnit || help.length < 20;
    });
    expect(wrong).toEqual([]);
  });

  test("are all in the table of deploy/docs/reference/metrics.md, and no other is", async () => {
    const ours = (await readDescriptions()).filter(isOurs).map(({ name }) => name);
    const table = [...text("deploy/docs/reference/metrics.md").matchAll(/^\| `([a-z]+_[a-z0-9_]+)`/gm)].map(
      ([, name]) => name,
    );
    expect(table.sort()).toEqual(ours.sort());
  });
});
