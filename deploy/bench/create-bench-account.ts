import { adminCommand } from "../admin.js";
import { StartFailure } from "../start-failure.js";

/** The account of the benchmarks, who owns what they import into. */
export const OWNER = "bench";

/** As an operator does, beside the running program; answers the token. */
export async function createBenchAccount(dataDir: string, username = OWNER): Promise<string> {
  const lines: string[] = [];
  const fail = (sentence: string) => {
    throw new StartFailure(sentence);
  };
  const admin = adminCommand({ env: { DATA_DIR: dataDir }, print: (line) => lines.push(line), fail });
  const account = ["--username", username, "--email", `${username}@example.org`];
  await admin.parseAsync(["create-account", ...account], { from: "user" });
  return lines.join("");
}
