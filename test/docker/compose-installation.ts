import { execFile } from "node:child_process";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { blocksOf } from "../support/documents/pages.js";
import { openFilesMax } from "../support/stores/database-servers.js";
import { type Program, makeAccount } from "../support/program/program.js";

/** What `docker compose` runs from a copy of this checkout, under a project name and an address of its own. */
export interface ComposeInstallation extends Pick<Program, "admin" | "newAccount">, AsyncDisposable {
  readonly dir: string;
  readonly api: string;
  /** Pastes blocks of a page that this suite runs, the first one from 0, into one shell. Answers what they print. */
  paste(page: string, ...indices: number[]): Promise<string>;
  bash(script: string): Promise<string>;
  compose(...args: string[]): Promise<string>;
}

/** Blocks of pages that name this suite as the one that runs them. */
const OURS = /test\/docker/;

export async function openComposeInstallation(
  name: string,
  files = ["compose.yaml"],
): Promise<ComposeInstallation> {
  const dir = await copyCheckout();
  // Another address of this machine for each, so that nothing else has its ports.
  const address = `127.8.${process.pid % 250}.${name.length}`;
  const env = {
    ...process.env,
    DOCKER_BUILDKIT: "1",
    COMPOSE_PROJECT_NAME: `toolchain-test-${name}`,
    COMPOSE_FILE: files.map((file) => join(dir, "deploy", file)).join(":"),
    PUBLISH_ADDRESS: address,
    OPEN_FILES_MAX: String(openFilesMax()),
  };
  const bash = async (script: string) => {
    const options = { cwd: dir, env, maxBuffer: 64 * 1024 ** 2 };
    const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", script], options);
    return stdout;
  };
  const compose = (...args: string[]) => bash(`docker compose ${args.map((arg) => `'${arg}'`).join(" ")}`);
  const api = `http://${address}:8080`;
  const admin = async (...args: string[]) =>
    (await compose("exec", "-T", "api", "maintainer-toolchain", "admin", ...args)).trim();
  return {
    dir,
    api,
    bash,
    compose,
    admin,
    paste: (page, ...indices) => bash(indices.map((index) => ourBlock(page, index)).join("")),
    newAccount: (username) => makeAccount({ admin, api }, username),
    async [Symbol.asyncDispose]() {
      await compose("down", "--volumes", "--remove-orphans", "--timeout", "5");
      await rm(dir, { recursive: true, force: true });
    },
  };
}

function ourBlock(page: string, index: number): string {
  const block = blocksOf(`deploy/docs/${page}`).filter(({ notRun = "" }) => OURS.test(notRun))[index];
  if (block === undefined) throw new Error(`${page} has no block ${index} that test/docker runs`);
  return block.text;
}

/** With what is not committed yet, and without what a build or a run has left. */
async function copyCheckout(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "compose-installation-"));
  const left = new Set(["node_modules", "dist", "data", ".git", "deploy/.env"]);
  await cp(".", dir, { recursive: true, filter: (path) => !left.has(path) });
  return dir;
}
