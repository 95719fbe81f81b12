import { expect, test } from "vitest";
import { parseBusySeconds } from "../../../bench/usage/machine-cpu.js";

test("counts the time of all cores without idle time and waiting for disks", () => {
  const stat = "cpu  1000 200 300 99999 88888 40 50 10 777 0\ncpu0 500 100 150 5 5 20 25 5 0 0\nintr 1 2 3\n";
  expect(parseBusySeconds(stat)).toBe(16);
});
