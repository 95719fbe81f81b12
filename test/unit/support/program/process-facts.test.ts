import { expect, test } from "vitest";
import { parseProcessFacts } from "../../../support/program/process-facts.js";

// From a Linux 6.1 machine: fields 14 and 15 of stat are the ticks in user and in kernel mode.
const STAT =
  "26781 (node) S 26778 26778 13982 0 -1 4194304 98 0 0 0 1234 66 900 90 20 0 11 0 284756 3133440 394 " +
  "18446744073709551615 94810923851776 94810923871657 140728208511728 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0\n";
const STATUS =
  "Name:\tnode\nState:\tS (sleeping)\nVmPeak:\t 1626084 kB\nVmHWM:\t  120184 kB\nVmRSS:\t  100184 kB\n" +
  "RssAnon:\t   40152 kB\nRssFile:\t   60032 kB\nRssShmem:\t       0 kB\n";

test("parses CPU time in seconds, without ended children, and memory in bytes", () => {
  expect(parseProcessFacts({ stat: STAT, status: STATUS })).toEqual({
    pid: 26781,
    parentPid: 26778,
    cpuSeconds: 13,
    residentBytes: 100_184 * 1024,
    anonymousBytes: 40_152 * 1024,
    residentPeakBytes: 120_184 * 1024,
  });
});
