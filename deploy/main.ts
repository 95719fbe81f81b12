#!/usr/bin/env -S node --single-threaded-gc --max-semi-space-size=4
// Started as a program, not with `node`, so that it gets these flags: V8's own threads of garbage collection run at the
// usual priority and would delay the thread that answers redirects.
import { Command } from "commander";
import { readFileSync } from "node:fs";
import { assetUrl } from "../schemas/asset.js";
import { runAsProgram } from "./process/run-as-program.js";

/** A command's own module is loaded only where the command is named: the stores alone take a second to load. */
const COMMANDS: readonly CommandEntry[] = [
  {
    name: "start",
    description:
      "Run the service on this machine, with embedded stores below DATA_DIR unless URLs are given.",
    load: async () => (await import("./commands/start.js")).startCommand(),
  },
  {
    name: "demo",
    description:
      "Show the main job on a fresh temporary data directory: import generated events, read aggregates.",
    load: async () => (await import("./commands/demo.js")).demoCommand(),
  },
  {
    name: "import",
    description:
      "Send files to a running service: events, or access logs of web servers. Waits until they count.",
    load: async () => (await import("./commands/import.js")).importCommand(),
  },
  {
    name: "sources",
    description:
      "Have a running service ask registries for the counts of your packages: npm, PyPI, Docker Hub ...",
    load: async () => (await import("./commands/sources.js")).sourcesCommand(),
  },
  {
    name: "admin",
    description:
      "Manage accounts, sign-in, export rights, dead letters, the funnel and backups, beside a running server or without one.",
    load: async () => (await import("./commands/admin.js")).adminCommand(),
  },
];

interface CommandEntry {
  name: string;
  description: string;
  load: () => Promise<Command>;
}

/** Only the commands that are named have their options and commands. */
async function createProgram(named: readonly string[]): Promise<Command> {
  const { version } = JSON.parse(readFileSync(assetUrl("package.json"), "utf8")) as { version: string };
  const program = new Command("maintainer-toolchain")
    .description("See who uses your packages: imports and live downloads in, exact daily breakdowns out.")
    .version(version);
  for (const { name, description, load } of COMMANDS) {
    const command = named.includes(name) ? await load() : new Command(name);
    program.addCommand(command.description(description));
  }
  return program;
}

await runAsProgram(async () => {
  // Also in `help admin`, where the command is the second word.
  const program = await createProgram(process.argv.slice(2, 4));
  await program.parseAsync();
});
