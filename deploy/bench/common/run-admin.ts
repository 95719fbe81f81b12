import { adminCommand } from "../../commands/admin.js";
import { StartFailure } from "../../process/start-failure.js";

/** Runs an admin command beside the running program. Returns its output. */
export async function runAdmin(dataDir: string, args: readonly string[]): Promise<string> {
  const lines: string[] = [];
  const fail = (sentence: string) => {
    throw new StartFailure(sentence);
  };
  const admin = adminCommand({ env: { DATA_DIR: dataDir }, print: (line) => lines.push(line), fail });
  await admin.parseAsync([...args], { from: "user" });
  return lines.join("");
}
