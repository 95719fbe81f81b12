import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** System tests start the program that is built in dist/. `npm test` has built it; vitest alone must not test old code. */
export async function setup(): Promise<void> {
  if (process.env["npm_lifecycle_event"] === "test") return;
  try {
    await promisify(execFile)("npm", ["run", "build", "--silent"]);
  } catch (error) {
    throw new Error(`the program does not compile:\n${(error as { stdout: string }).stdout}`, {
      cause: error,
    });
  }
}
