import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";

/** In a process of its own, because a lowered priority stays. */
const SCRIPT = `
  import { readdirSync } from "node:fs";
  import { getPriority } from "node:os";
  import { lowerPriority } from "./deploy/process/thread-priority.js";
  const before = getPriority();
  const others = readdirSync("/proc/self/task").map(Number).filter((id) => id !== process.pid);
  lowerPriority();
  console.log(JSON.stringify({ before, own: getPriority(), others: others.map((id) => getPriority(id)) }));`;

test.skipIf(process.platform !== "linux")("lowers the priority of the calling thread alone", async () => {
  const args = ["--import", "tsx", "--input-type=module", "--eval", SCRIPT];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const { before, own, others } = JSON.parse(await text(child.stdout)) as Record<string, number | number[]>;
  expect(own).toBe(10);
  expect(new Set(others as number[])).toEqual(new Set([before]));
});
