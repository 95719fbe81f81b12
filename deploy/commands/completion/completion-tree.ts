import type { Command } from "commander";

/** A command as shells complete it. */
export interface CompletionNode {
  /** The words after the program's name, such as `admin backup`; empty for the program itself. */
  path: string;
  /** Commands below it, and its options. */
  words: CompletionWord[];
}

export interface CompletionWord {
  word: string;
  description: string;
}

/** Every command of the program, hidden ones left out. */
export function completionTree(program: Command, path = ""): CompletionNode[] {
  const help = program.createHelp();
  const commands = help.visibleCommands(program).filter((command) => command.name() !== "help");
  const options = help.visibleOptions(program).map(({ long, short, description }) => ({
    word: long ?? short ?? "",
    description,
  }));
  const words = [
    ...commands.map((command) => ({ word: command.name(), description: command.description() })),
    ...options,
  ];
  const below = commands.flatMap((command) => completionTree(command, `${path} ${command.name()}`.trim()));
  return [{ path, words }, ...below];
}
