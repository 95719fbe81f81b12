import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { runCommand } from "../program/run-command.js";

/** What an upstream serves, by path: content type and body. */
export type ServedFiles = Map<string, [type: string, body: string | Buffer]>;

export interface Wheel {
  /** Of the file. */
  name: string;
  bytes: Buffer;
  sha256: string;
}

interface WheelParts {
  folder: string;
  /** As in a file's name, with underscores. */
  project: string;
  version: string;
  requires?: readonly string[];
}

/** Makes a wheel and serves it with its metadata below `/files/`. */
export async function serveWheel(served: ServedFiles, parts: WheelParts): Promise<Wheel> {
  const { folder, project, version, requires = [] } = parts;
  const script = "test/support/collect/make-wheel.py";
  const name = (await runCommand("python3", [script, folder, project, version, ...requires])).trim();
  const bytes = await readFile(join(folder, name));
  served.set(`/files/${name}`, ["application/zip", bytes]);
  served.set(`/files/${name}.metadata`, ["text/plain", await readFile(join(folder, `${name}.metadata`))]);
  return { name, bytes, sha256: createHash("sha256").update(bytes).digest("hex") };
}

/** The page of a project that has this one file. */
export function indexHtml({ name, sha256 }: Wheel): string {
  return `<!DOCTYPE html><a href="../../files/${name}#sha256=${sha256}" data-core-metadata="true">${name}</a>`;
}
