#!/usr/bin/env node
import { Command } from "commander";
import { adminCommand } from "./commands/admin.js";
import { benchCommand } from "./commands/bench.js";
import { demoCommand } from "./commands/demo.js";
import { kafkaCommand } from "./commands/kafka.js";
import { startCommand } from "./commands/start.js";
import { StartFailure } from "./process/start-failure.js";

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
