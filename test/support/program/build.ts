import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Beginning with these, npm has built the program before. */
const BUILDING_SCRIPTS = ["test", "test:kafka"];

/** System tests start the program that is built in dist/; vitest alone must not test old code. */
export async function setup(): Promise<void> {
  if (BUILDING_SCRIPTS.includes(process.env["npm_lifecycle_event"] ?? "")) return;
  try {
    await promisify(execFile)("npm", ["run", "build", "--silent"]);
  } catch (error) {
    throw new Error(`the program does not compile:\n${(error as { stdout: string }).stdout}`, {
      cause: error,
    });
  }
}
