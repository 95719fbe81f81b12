import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestProject } from "vitest/node";
import { startToolchain, type Toolchain } from "./start-toolchain.js";

declare module "vitest" {
  interface ProvidedContext {
    /** Answers where the program of `shared-program.ts` is. */
    sharedProgram: string;
  }
}

/** Several projects share it: the first one to ask offers it, the first one to end closes it. */
const run = globalThis as { offeredProgram?: ReturnType<typeof offerProgram> | undefined };

/** Starts one program for all files of a run that need nothing special of theirs, when the first of them asks. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  run.offeredProgram ??= offerProgram(() => startToolchain());
  const { url, close } = await run.offeredProgram;
  project.provide("sharedProgram", url);
  return async () => {
    if (run.offeredProgram === undefined) return;
    run.offeredProgram = undefined;
    await close();
  };
}

export interface OfferedProgram {
  /** Answers where it is, and starts it first. */
  url: string;
  close: () => Promise<void>;
}

export async function offerProgram(start: () => Promise<Toolchain>): Promise<OfferedProgram> {
  let started: Promise<Toolchain> | undefined;
  const server = createServer((_, response) => {
    started ??= start();
    started.then(
      ({ dataDir, endpoints }) => response.end(JSON.stringify({ dataDir, endpoints })),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.close();
      await (await started)?.close();
    },
  };
}
