import { spawnSync } from "node:child_process";
import { describe, test } from "vitest";

/**
 * A suite that drives a program that people have. Where it is absent the suite is reported as skipped, with what to
 * install in its title; with CI=true, where nobody reads that, it fails.
 */
export function describeWithCommand(
  name: string,
  { command, install }: { command: readonly [string, ...string[]]; install: string },
  suite: () => void,
): void {
  const [program, ...args] = command;
  if (spawnSync(program, [...args, "--version"]).status === 0) return void describe(name, suite);
  const reason = `\`${command.join(" ")}\` does not run: install ${install}`;
  if (process.env["CI"] === "true")
    return void test(`${name}: there is a client`, () => {
      throw new Error(`With CI=true every client must be there. ${reason}`);
    });
  process.stderr.write(`\nSKIPPED: ${name}. ${reason}.\n\n`);
  describe.skip(`${name} (${reason})`, suite);
}
