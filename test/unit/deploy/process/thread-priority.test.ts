import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";

const onLinux = test.skipIf(process.platform !== "linux");

onLinux("makes the calling thread wait for the others, and no other", async () => {
  const { before, own, ofOthers } = await prioritiesAround("yieldToRequests");
  expect(own).toBe(19);
  expect(new Set(ofOthers)).toEqual(new Set([before]));
});

onLinux("makes a process wait for the others", async () => {
  expect((await prioritiesAround("yieldSessionToRequests")).own).toBe(10);
});

onLinux("makes the helpers of a process wait for its main thread", async () => {
  const { before, own, ofOthers } = await prioritiesAround("haveHelpersYield");
  expect(own).toBe(before);
  expect(new Set(ofOthers)).toEqual(new Set([10]));
});

interface Priorities {
  before: number;
  own: number;
  ofOthers: number[];
}

/** In a process of its own, and a session: a priority that was lowered stays so. */
async function prioritiesAround(name: string): Promise<Priorities> {
  const script = `
    import { readdirSync, readFileSync } from "node:fs";
    import { ${name} } from "./deploy/process/thread-priority.js";
    // proc_pid_stat(5): nice is the nineteenth field, and what follows the name of the command begins with the third.
    const niceOf = (id) => Number(readFileSync(\`/proc/self/task/\${id}/stat\`, "utf8").split(") ")[1].split(" ")[16]);
    const before = niceOf(process.pid);
    ${name}();
    const others = readdirSync("/proc/self/task").filter((id) => id !== String(process.pid));
    console.log(JSON.stringify({ before, own: niceOf(process.pid), ofOthers: others.map(niceOf) }));`;
  const args = ["--import", "tsx", "--input-type=module", "--eval", script];
  const child = spawn(process.execPath, args, { detached: true, stdio: ["ignore", "pipe", "inherit"] });
  return JSON.parse(await text(child.stdout)) as Priorities;
}
