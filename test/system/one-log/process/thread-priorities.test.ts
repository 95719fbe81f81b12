import { readdirSync } from "node:fs";
import { getPriority } from "node:os";
import { expect, test } from "vitest";
import { startToolchain } from "../../../support/program/start-toolchain.js";

test.skipIf(process.platform !== "linux")(
  "two threads answer requests, and all others of the process wait for them",
  async () => {
    const toolchain = await startToolchain();
    try {
      const { pid } = toolchain;
      const own = getPriority(pid);
      const nices = readdirSync(`/proc/${pid}/task`).map((thread) => getPriority(Number(thread)));
      expect(nices.filter((nice) => nice === own)).toHaveLength(2);
      expect(nices.filter((nice) => nice === 19)).toHaveLength(2);
      expect(Math.min(...nices)).toBe(own);
    } finally {
      await toolchain.close();
    }
  },
);
