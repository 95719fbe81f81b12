import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestProject } from "vitest/node";
import type { SharedName } from "./program.js";
import { startToolchain, type Toolchain, type ToolchainOptions } from "./start-toolchain.js";

/** The programs that files share, and how each is started: the second with the whole lookup tables. */
const SHARED = {
  sharedProgram: {},
  wholeProgram: { prepared: ["databases"] },
} as const satisfies Record<SharedName, ToolchainOptions>;

declare module "vitest" {
  /** Each answers where the program is of which `program.ts` tells. */
  interface ProvidedContext {
    sharedProgram: string;
    wholeProgram: string;
  }
}

/** Several projects share them: the first one to ask offers them, the first one to end closes them. */
const run = globalThis as { offeredPrograms?: ReturnType<typeof offerPrograms> | undefined };

/** Starts programs for all files of a run that need nothing special of theirs, each when the first of them asks. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  run.offeredPrograms ??= offerPrograms();
  const close = await run.offeredPrograms.then((offered) => offered(project));
  return async () => {
    if (run.offeredPrograms === undefined) return;
    run.offeredPrograms = undefined;
    await close();
  };
}

/** Answers a function that tells a project of them, and answers how they are closed. */
export async function offerPrograms(options: ToolchainOptions = {}) {
  const offered = await Promise.all(
    Object.entries(SHARED).map(async ([name, own]) => {
      return {
        name: name as SharedName,
        ...(await offerProgram(() => startToolchain({ ...own, ...options }))),
      };
    }),
  );
  return (project: TestProject) => {
    for (const { name, url } of offered) project.provide(name, url);
    return async () => void (await Promise.all(offered.map(({ close }) => close())));
  };
}

interface OfferedProgram {
  /** Answers where it is, and starts it first. */
  url: string;
  close: () => Promise<void>;
}

async function offerProgram(start: () => Promise<Toolchain>): Promise<OfferedProgram> {
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
