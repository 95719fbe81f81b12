import { readdirSync } from "node:fs";
import { getPriority } from "node:os";
import { expect, test } from "vitest";
import { startToolchain } from "../../../support/program/start-toolchain.js";

const WORKERS = 2;

test.skipIf(process.platform !== "linux")(
  "enrichment runs at a lower priority, and all other threads at that of the process",
  async () => {
    const toolchain = await startToolchain({ env: { ENRICH_WORKERS: String(WORKERS) } });
    try {
      const { pid } = toolchain;
      const own = getPriority(pid);
      const priorities = readdirSync(`/proc/${pid}/task`).map((thread) => getPriority(Number(thread)));
      const lowered = priorities.filter((priority) => priority !== own);
      expect(lowered).toEqual(Array.from({ length: WORKERS }, () => 10));
    } finally {
      await toolchain.close();
    }
  },
);
