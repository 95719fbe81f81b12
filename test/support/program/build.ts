import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const BUILD = fileURLToPath(new URL("../../../deploy/build.mjs", import.meta.url));

/** System tests start the program that is built in dist/; vitest alone must not test old code. */
export async function setup(): Promise<void> {
  try {
    await promisify(execFile)(process.execPath, [BUILD, "--if-changed"]);
  } catch (error) {
    throw new Error(`the program does not compile:\n${(error as { stdout: string }).stdout}`, {
      cause: error,
    });
  }
}
