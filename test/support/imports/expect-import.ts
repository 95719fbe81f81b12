import { expect } from "vitest";
import type { ProcessEnvironment } from "../program/toolchain-process.js";
import { startToolchain } from "../program/start-toolchain.js";
import { makeTarget } from "./import-target.js";
import { makeExporter } from "./import-world.js";

const LINES = 2_000;

/** Imports lines through the whole program with these variables, and reads them back. */
export async function expectImport(env: ProcessEnvironment): Promise<void> {
  await using toolchain = await startToolchain({ env });
  const api = await makeExporter(toolchain, "acme");
  const target = await makeTarget(api, { organization: "acme", libraryType: "docker" });
  const body = target.bodyOf({ count: LINES });
  const started = await api.importBody(target.path, body, { gzip: true });
  expect(await api.pollToDone(started)).toMatchObject({ status: "done", events_total: LINES });
  await target.expectExports(api, body);
}
