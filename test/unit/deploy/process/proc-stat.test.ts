import { expect, test } from "vitest";
import { parseProcStat } from "../../../../deploy/process/proc-stat.js";

/** From a Linux 6.1 machine; times are ticks of 10 ms. */
const lineOf = (name: string) =>
  `26781 (${name}) S 26778 26700 13982 0 -1 4194304 98 0 0 0 1234 66 900 90 20 5 11 0`;

test.each(["node", "a b", "a) S 1 (b", "tmux: server", "\n"])(
  "reads the fields after the name %j",
  (name) => {
    expect(parseProcStat(lineOf(name))).toEqual({
      id: 26781,
      parent: 26778,
      group: 26700,
      session: 13982,
      cpuSeconds: 13,
      nice: 5,
    });
  },
);
