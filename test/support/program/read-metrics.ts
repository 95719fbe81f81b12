import { vi } from "vitest";
import type { Toolchain } from "./start-toolchain.js";

/** One scrape of a process. */
export interface Metrics {
  /** Names of all metrics that are the program's own, not Node's or the process's. */
  readonly names: readonly string[];
  /** Sum over all series of this name that have these labels; of a histogram, how often it was observed. */
  sum(name: string, labels?: Record<string, string>): number;
  /** The different values of a label. */
  values(name: string, label: string): string[];
}

/** As they are now: waits for another text than the last one, which a process answers for a second. */
export async function readMetrics({ endpoints }: Pick<Toolchain, "endpoints">): Promise<Metrics> {
  const url = `${endpoints.metrics ?? ""}/metrics`;
  const read = async () => {
    const text = await (await fetch(url)).text();
    return text === lastTexts.get(url) ? undefined : text;
  };
  const text = await vi.waitUntil(read, { timeout: READ_MS_MAX, interval: 50 });
  lastTexts.set(url, text);
  return parseMetrics(text);
}

const READ_MS_MAX = 30_000;
const lastTexts = new Map<string, string>();

interface Series {
  name: string;
  labels: Record<string, string>;
  value: number;
}

function parseMetrics(text: string): Metrics {
  const series = text.split("\n").flatMap((line) => parseSeries(line) ?? []);
  const types = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name = "", type = ""]) => ({
    name,
    type,
  }));
  const histograms = new Set(types.filter(({ type }) => type === "histogram").map(({ name }) => name));
  const of = (name: string) =>
    series.filter((each) => each.name === (histograms.has(name) ? `${name}_count` : name));
  return {
    names: types.map(({ name }) => name).filter((name) => !/^(process|nodejs)_/.test(name)),
    sum: (name, labels = {}) =>
      of(name)
        .filter((each) => Object.entries(labels).every(([label, value]) => each.labels[label] === value))
        .reduce((sum, { value }) => sum + value, 0),
    values: (name, label) => [...new Set(of(name).map(({ labels }) => labels[label] ?? ""))].sort(),
  };
}

function parseSeries(line: string): Series | undefined {
  const [, name, pairs = "", value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
  if (name === undefined) return undefined;
  const labels = [...pairs.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = "", text = ""]) => [label, text]);
  return { name, labels: Object.fromEntries(labels) as Record<string, string>, value: Number(value) };
}
