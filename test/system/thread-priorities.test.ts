import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { startToolchain } from "../support/start-toolchain.js";

/** proc_pid_stat(5): the nineteenth field; what follows the name of the command begins with the third. */
function niceOf(pid: number, thread: string): number {
  const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8");
  return Number(stat.split(") ")[1]?.split(" ")[16]);
}

test.skipIf(process.platform !== "linux")(
  "two threads answer requests, and all others of the process wait for them",
  async () => {
    const toolchain = await startToolchain();
    try {
      const { pid } = toolchain;
      const own = niceOf(pid, String(pid));
      const nices = readdirSync(`/proc/${pid}/task`).map((thread) => niceOf(pid, thread));
      expect(nices.filter((nice) => nice === own)).toHaveLength(2);
      expect(nices.filter((nice) => nice === 19)).toHaveLength(2);
      expect(Math.min(...nices)).toBe(own);
    } finally {
      await toolchain.close();
    }
  },
);
