import { spawnSync } from "node:child_process";
import { describeOrSkip } from "../describe-or-skip.js";

/** A suite that drives a program that people have. Where it is absent the suite is skipped; with CI=true it fails. */
export function describeWithCommand(
  name: string,
  { command, install }: { command: readonly [string, ...string[]]; install: string },
  suite: () => void,
): void {
  const [program, ...args] = command;
  const runs = spawnSync(program, [...args, "--version"]).status === 0;
  const missing = runs ? undefined : `\`${command.join(" ")}\` does not run: install ${install}.`;
  describeOrSkip(name, { missing, ciRule: "With CI=true every client must be there." }, suite);
}
