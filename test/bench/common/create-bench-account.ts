import { runAdmin } from "../../support/program/run-admin.js";

/** The account that owns the packages of the benchmarks. */
export const OWNER = "bench";

/** Creates an account with the admin command, beside the running program. Returns its token. */
export function createBenchAccount(dataDir: string, username = OWNER): Promise<string> {
  const account = ["--username", username, "--email", `${username}@example.org`];
  return runAdmin(["create-account", ...account], { DATA_DIR: dataDir });
}
