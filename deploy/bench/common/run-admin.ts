import { adminCommand } from "../../commands/admin.js";
import { StartFailure } from "../../process/start-failure.js";

/** As an operator does, beside the running program; answers what is printed. */
export async function runAdmin(dataDir: string, args: readonly string[]): Promise<string> {
  const lines: string[] = [];
  const fail = (sentence: string) => {
    throw new StartFailure(sentence);
  };
  const admin = adminCommand({ env: { DATA_DIR: dataDir }, print: (line) => lines.push(line), fail });
  await admin.parseAsync([...args], { from: "user" });
  return lines.join("");
}
