import type { Endpoints } from "../../../deploy/process/data-dir.js";
import { type ApiClient, connectApi } from "../../../deploy/demo/api-client.js";
import type { ProcessEnvironment } from "./toolchain-process.js";
import { inject } from "vitest";
import { runAdmin } from "./run-admin.js";
import { checkAnswersOf } from "../api/check-answer.js";

/** The built program while it runs, for those who only use it. */
export interface Program {
  readonly dataDir: string;
  readonly endpoints: Endpoints;
  /** URL of the API. */
  readonly api: string;
  /** `npm run admin -- <args>`: what it prints, trimmed. Throws with what it says when it fails. */
  admin(...args: string[]): Promise<string>;
  /** Makes an account that may export, and connects as it. */
  newAccount(username: string): Promise<ApiClient>;
}

interface Running {
  dataDir: string;
  /** The variables of its commands. */
  env: ProcessEnvironment;
  endpoints: () => Endpoints;
}

export function programOf({ dataDir, env, endpoints }: Running): Program {
  const admin = (...args: string[]) => runAdmin(args, env);
  const api = () => endpoints().api ?? "";
  return {
    dataDir,
    admin,
    get endpoints() {
      return endpoints();
    },
    get api() {
      return api();
    },
    newAccount: (username) => makeAccount({ admin, api: api() }, username),
  };
}

/** By the commands of a program that runs somewhere: an account that may export, and its client. */
export async function makeAccount(
  { admin, api }: Pick<Program, "admin" | "api">,
  username: string,
): Promise<ApiClient> {
  const email = `${username}@example.org`;
  const token = await admin("create-account", "--username", username, "--email", email);
  await admin("grant-export", username);
  return connectApi(api, token);
}

/** The programs that files share; offer-program.ts says how each is started. */
export type SharedName = "sharedProgram" | "wholeProgram";

/**
 * A program with default settings, and with smaller lookup tables unless its name says whole, that other files use at the same time: with accounts, organizations and hosts whose
 * names they do not have, and assertions about these alone. It cannot be killed or stopped.
 */
export async function sharedProgram(name: SharedName = "sharedProgram"): Promise<Program> {
  const answer = await fetch(inject(name));
  if (!answer.ok) throw new Error(await answer.text());
  const { dataDir, endpoints } = (await answer.json()) as { dataDir: string; endpoints: Endpoints };
  await checkAnswersOf(endpoints.api ?? "");
  return programOf({ dataDir, env: { DATA_DIR: dataDir }, endpoints: () => endpoints });
}
