import { spawnSync } from "node:child_process";
import { describeOrSkip } from "../describe-or-skip.js";

interface Command {
  command: readonly [string, ...string[]];
  install: string;
  /** Few machines have it: it may be absent with CI=true as well. */
  rare?: boolean;
}

/** A suite that drives a program that people have. Where it is absent the suite is skipped; with CI=true it fails. */
export function describeWithCommand(
  name: string,
  { command, install, rare = false }: Command,
  suite: () => void,
): void {
  const [program, ...args] = command;
  const runs = spawnSync(program, [...args, "--version"]).status === 0;
  const missing = runs ? undefined : `\`${command.join(" ")}\` does not run: install ${install}.`;
  const ciRule = "With CI=true every client must be there.";
  describeOrSkip(name, { missing, ...(!rare && { ciRule }) }, suite);
}
