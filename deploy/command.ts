#!/usr/bin/env node
// The command without the server, for people whose service runs elsewhere: deploy/pack-command.mjs makes a package of it.
import { createProgram } from "./commands/create-program.js";
import { SERVICE_COMMANDS } from "./commands/service-commands.js";
import { runAsProgram } from "./process/run-as-program.js";

await runAsProgram(async () => {
  const program = await createProgram(SERVICE_COMMANDS, process.argv.slice(2, 4));
  await program.parseAsync();
});
