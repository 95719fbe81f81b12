import { execFile } from "node:child_process";

interface RunOptions {
  cwd?: string;
  /** Added to the environment of the tests. */
  env?: Record<string, string>;
}

const RUN_MS_MAX = 300_000;

/** A program's standard output. Rejects with all that it wrote when it fails or takes too long. */
export function runCommand(
  program: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<string> {
  const env = { ...process.env, ...options.env };
  return new Promise((resolve, reject) => {
    execFile(program, args, { ...options, env, timeout: RUN_MS_MAX }, (error, out, err) => {
      if (error === null) resolve(out);
      else reject(new Error(`${program} ${args.join(" ")}: ${error.message}\n${out}\n${err}`));
    });
  });
}
