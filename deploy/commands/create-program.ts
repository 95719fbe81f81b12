import { Command } from "commander";
import { readFileSync } from "node:fs";
import { assetUrl } from "../../schemas/asset.js";

export interface CommandEntry {
  name: string;
  description: string;
  /** A command's own module is loaded only where the command is named: the stores alone take a second to load. */
  load: () => Promise<Command>;
}

/** Only the commands that are named have their options and commands. */
export async function createProgram(
  entries: readonly CommandEntry[],
  named: readonly string[],
): Promise<Command> {
  const { version } = JSON.parse(readFileSync(assetUrl("package.json"), "utf8")) as { version: string };
  const program = new Command("maintainer-toolchain")
    .description("See who uses your packages: import or collect downloads, and read exact daily breakdowns.")
    .version(version);
  for (const { name, description, load } of entries) {
    const command = named.includes(name) ? await load() : new Command(name);
    program.addCommand(command.description(description));
  }
  return program;
}
