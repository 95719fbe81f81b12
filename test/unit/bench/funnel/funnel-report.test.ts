import { expect, test } from "vitest";
import { funnelReport, type MeasuredPass } from "../../../bench/funnel/funnel-report.js";

const pass = (seconds: number, mib: number, sentence: string): MeasuredPass => ({
  ...{ seconds, sentence, residentPeakBytes: mib * 2 ** 20, clickhouseAddedBytes: 2 ** 20 },
  ...{ clickhouseCpuSeconds: 1, postgresCpuSeconds: 2 },
});
const round = (seconds: number, mib: number) => ({
  first: pass(seconds * 2, mib, "200000 changes."),
  again: pass(seconds, mib, "0 changes."),
  peerSeconds: 2,
});

test("the report has medians of times, peaks of memory and the ratio to the peer", () => {
  const { text, json } = funnelReport([round(10, 100), round(12, 300), round(30, 200)]);
  expect(json).toMatchObject({
    all_new: { seconds: 24, resident_peak_bytes: 300 * 2 ** 20 },
    no_news: { seconds: 12 },
    peers: { clickhouse_sum: { seconds: 2 } },
    ratio: 6,
  });
  expect(text).toContain("medians and peaks of 3 rounds");
  expect(text).toMatch(/memory of its process +300 MiB +300 MiB/);
  expect(text).toContain("6.0 times as long as adding up alone");
});
