import { runAdmin } from "./run-admin.js";

/** The account of the benchmarks, who owns what they import into. */
export const OWNER = "bench";

/** As an operator does, beside the running program; answers the token. */
export function createBenchAccount(dataDir: string, username = OWNER): Promise<string> {
  const account = ["--username", username, "--email", `${username}@example.org`];
  return runAdmin(dataDir, ["create-account", ...account]);
}
