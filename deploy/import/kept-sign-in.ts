import { readFileSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { makeFolders, writeDurably } from "../process/private-files.js";
import { explainFileError } from "../process/start-failure.js";
import type { Service } from "./call-api.js";

/** What `login` kept; undefined without a file, or where it is of another form. */
export function readSignIn(path = signInPath()): Service | undefined {
  try {
    const { url, token } = JSON.parse(readFileSync(path, "utf8")) as Partial<Service>;
    return url === undefined || token === undefined ? undefined : { url, token };
  } catch (error) {
    if (error instanceof SyntaxError || codeOf(error) === "ENOENT") return undefined;
    throw explainFileError(error, path);
  }
}

/** Mode 0600, in a folder of mode 0700 if it is new. */
export function keepSignIn(service: Service, path = signInPath()): void {
  makeFolders(dirname(path));
  writeDurably(path, `${JSON.stringify(service, undefined, 2)}\n`);
}

/** Answers whether there was one. */
export function forgetSignIn(path = signInPath()): boolean {
  try {
    rmSync(path);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

/** XDG Base Directory Specification: a relative XDG_CONFIG_HOME is ignored. */
export function signInPath(env: NodeJS.ProcessEnv = process.env): string {
  const given = env["XDG_CONFIG_HOME"] ?? "";
  const base = isAbsolute(given) ? given : join(env["HOME"] ?? homedir(), ".config");
  return join(base, "maintainer-toolchain", "sign-in.json");
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code;
