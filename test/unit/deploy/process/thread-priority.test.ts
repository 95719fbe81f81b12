import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";

/** In a process of its own, because a lowered priority stays. */
const SCRIPT = `
  import { readdirSync } from "node:fs";
  import { getPriority } from "node:os";
  import { lowerPriority } from "./deploy/process/thread-priority.js";
  const before = getPriority();
  const others = readdirSync("/proc/self/task").map(Number).filter((id) => id !== process.pid);
  lowerPriority();
  console.log(JSON.stringify({ before, own: getPriority(), others: others.map((id) => getPriority(id)) }));`;

interface Priorities {
  before: number;
  own: number;
  others: number[];
}

async function lowerInChild(command: string, ...args: string[]): Promise<Priorities> {
  const evaluate = ["--import", "tsx", "--input-type=module", "--eval", SCRIPT];
  const child = spawn(command, [...args, ...evaluate], { stdio: ["ignore", "pipe", "inherit"] });
  return JSON.parse(await text(child.stdout)) as Priorities;
}

describe.skipIf(process.platform !== "linux")("lowerPriority", () => {
  test("lowers the priority of the calling thread alone", async () => {
    const { before, own, others } = await lowerInChild(process.execPath);
    expect(own).toBe(19);
    expect(new Set(others)).toEqual(new Set([before]));
  });

  test("does not raise a priority that is lower already", async () => {
    const { before, own } = await lowerInChild("nice", "-n", "39", process.execPath);
    expect(before).toBe(19);
    expect(own).toBe(19);
  });
});
