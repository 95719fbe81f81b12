#!/usr/bin/env node
import { Command } from "commander";
import { adminCommand } from "./admin.js";
import { benchCommand } from "./bench.js";
import { demoCommand } from "./demo.js";
import { kafkaCommand } from "./kafka.js";
import { startCommand } from "./start-command.js";
import { StartFailure } from "./start-failure.js";

const program = new Command("maintainer-toolchain")
  .description("See who uses your packages: imports and live downloads in, exact daily breakdowns out.")
  .addCommand(startCommand(), { isDefault: true })
  .addCommand(demoCommand())
  .addCommand(adminCommand())
  .addCommand(benchCommand())
  .addCommand(kafkaCommand());

try {
  await program.parseAsync();
} catch (error) {
  // A sentence is for a person; anything else is a fault of ours and needs its stack.
  const text =
    error instanceof StartFailure ? error.message : error instanceof Error ? error.stack : String(error);
  process.stderr.write(`${text}\n`);
  process.exitCode = 1;
}
// Stores that were closed may leave a socket to time out; nothing is left to wait for.
process.exit();
