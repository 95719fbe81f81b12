import { runCommand } from "../program/run-command.js";
import { startProxy } from "./start-server.js";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

interface Installation {
  /** Whose index is asked. */
  domain: string;
  /** The folder that gets the files. */
  to: string;
  requirement: string;
  /** The collector's. */
  port: () => string;
}

/** Downloads a requirement and all that it requires. */
export async function downloadWithPip({ domain, to, requirement, port }: Installation): Promise<void> {
  await using proxy = await startProxy(port);
  const from = ["--index-url", `http://${domain}/simple/`, "--trusted-host", domain, "--proxy", proxy.url];
  const quiet = ["--isolated", "--no-cache-dir", "--disable-pip-version-check", "--retries", "0"];
  const args = ["-m", "pip", "download", ...quiet, ...from, "--dest", to, requirement];
  await runCommand("python3", args, { env: throughProxy(proxy.url) });
}

/** Installs a requirement and all that it requires, or only resolves it. */
export async function installWithUv({
  isDry = false,
  ...wanted
}: Installation & { isDry?: boolean }): Promise<void> {
  const { domain, to, requirement, port } = wanted;
  await using proxy = await startProxy(port);
  const from = ["--default-index", `http://${domain}/simple/`, "--allow-insecure-host", domain];
  const dry = isDry ? ["--dry-run"] : [];
  const args = ["pip", "install", "--no-config", "--no-cache", ...dry, ...from, "--target", to, requirement];
  await runCommand("uv", args, { env: throughProxy(proxy.url) });
}

/** Installers take the machine's variables first. */
function throughProxy(url: string): Record<string, string> {
  return { http_proxy: url, HTTP_PROXY: url, no_proxy: "", NO_PROXY: "" };
}

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
