import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { VARIABLES } from "../../../../deploy/config-schema.js";
import { createRegistry } from "../../../../deploy/metrics.js";
import { createPipelineMetrics } from "../../../../deploy/pipeline-metrics.js";

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

/** Every series of the program's own registry, as Prometheus stores them. */
async function seriesNames(): Promise<Set<string>> {
  const registry = createRegistry();
  createPipelineMetrics(registry, { eventLog: { lag: async () => 0 }, countParked: async () => 0 });
  const metrics = await registry.getMetricsAsJSON();
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
    const whole = /event_log_lag_records|enrich_parked_chunks/;
    const expressions = [...dashboardExpressions, ...rules.map(({ expr }) => expr)];
    const wrong = expressions.filter(
      (expr) => whole.test(expr) && !/max\((event_log|enrich_parked)/.test(expr),
    );
    expect(wrong).toEqual([]);
  });

  test("show every measure of the pipeline", () => {
    const shown = new Set(dashboardExpressions.flatMap(namesIn));
    const measures = ["enrich_events_total", "enrich_chunks_total", "enrich_chunks_parked_total"].concat(
      ["enrich_parked_chunks", "event_log_lag_records", "settlement_versions_total"],
      ["settlement_duration_seconds_bucket", "process_resident_memory_bytes", "process_cpu_seconds_total"],
    );
    expect(measures.filter((name) => !shown.has(name))).toEqual([]);
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
    const readme = text("deploy/README.md");
    expect(rules.filter(({ alert }) => !readme.includes(`\`${alert}\``))).toEqual([]);
  });

  test("has panels with ids of their own", () => {
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

test("deploy/README.md names variables that the program takes", () => {
  const named = [...text("deploy/README.md").matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)].map(
    ([, name = ""]) => name,
  );
  const known = Object.keys(VARIABLES);
  expect(named.filter((name) => !known.includes(name) && !name.startsWith("KAFKA_"))).toEqual([]);
});
