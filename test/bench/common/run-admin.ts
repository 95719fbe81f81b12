import { adminCommand } from "../../../deploy/commands/admin.js";
import { StartFailure } from "../../../deploy/process/start-failure.js";

/** Runs an admin command beside the running program. Returns its output. */
export async function runAdmin(dataDir: string, args: readonly string[]): Promise<string> {
  const lines: string[] = [];
  const fail = (sentence: string) => {
    throw new StartFailure(sentence);
  };
  const env = { DATA_DIR: dataDir };
  const admin = adminCommand({ env, print: (line) => lines.push(line), note: () => undefined, fail });
  await admin.parseAsync([...args], { from: "user" });
  return lines.join("");
}
