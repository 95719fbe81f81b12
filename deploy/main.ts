#!/usr/bin/env -S node --single-threaded-gc --max-semi-space-size=4
// Started as a program, not with `node`, so that it gets these flags: V8's own threads of garbage collection run at the
// usual priority and would delay the thread that answers redirects.
import { type CommandEntry, createProgram } from "./commands/create-program.js";
import { SERVICE_COMMANDS } from "./commands/service-commands.js";
import { runAsProgram } from "./process/run-as-program.js";

const COMMANDS: readonly CommandEntry[] = [
  {
    name: "start",
    description:
      "Run the service on this machine, with embedded stores in DATA_DIR unless you set the URLs of your " +
      "own stores.",
    load: async () => (await import("./commands/start.js")).startCommand(),
  },
  {
    name: "demo",
    description: "Take a tour with generated data in a temporary folder.",
    load: async () => (await import("./commands/demo.js")).demoCommand(),
  },
  ...SERVICE_COMMANDS,
  {
    name: "admin",
    description:
      "Manage accounts, sign-in, data export, dead letters, the funnel and backups. Works whether or not " +
      "the service is running.",
    load: async () => (await import("./commands/admin.js")).adminCommand(),
  },
];

await runAsProgram(async () => {
  // Also in `help admin`, where the command is the second word.
  const program = await createProgram(COMMANDS, process.argv.slice(2, 4));
  await program.parseAsync();
});
