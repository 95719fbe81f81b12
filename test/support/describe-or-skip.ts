import { describe, test } from "vitest";
import { spawnSync } from "node:child_process";
import { findGivenServers, type GivenServers } from "./shards/given-servers.js";

interface Need {
  /** The sentence that says what this machine lacks and what to install; undefined when all is there. */
  missing: string | undefined;
  /** The rule that the suite must run with CI=true, where nobody reads what was skipped. Without it, it need not. */
  ciRule?: string;
}

/** A suite that needs something of the machine. Without it the suite is reported as skipped, with the reason in its title. */
export function describeOrSkip(name: string, { missing, ciRule }: Need, suite: () => void): void {
  if (missing === undefined) return void describe(name, suite);
  if (ciRule !== undefined && process.env["CI"] === "true")
    return void test(`${name}: all that it needs is there`, () => {
      throw new Error(`${ciRule} ${missing}`);
    });
  process.stderr.write(`\nSKIPPED: ${name}. ${missing}\n\n`);
  describe.skip(`${name} (${missing})`, suite);
}

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

/** A suite on given servers with replicas. Without them it is skipped, also in CI: no package has a server that replicates. */
export function describeWithReplicas(name: string, suite: (servers: GivenServers) => void): void {
  const servers = findGivenServers();
  const missing = "missing" in servers ? servers.missing : undefined;
  describeOrSkip(name, { missing }, () => {
    if (!("missing" in servers)) suite(servers);
  });
}
