import type { Command, Option } from "commander";

/** A command as shells complete it. */
export interface CompletionNode {
  /** The words after the program's name, such as `admin backup`; empty for the program itself. */
  path: string;
  /** Commands below it, and its options. */
  words: CompletionWord[];
  /** Whether a file may come next: not where a command or one of a few words must. */
  takesFiles: boolean;
  /** The options whose value is one of a few words. */
  choices: { option: string; values: readonly string[] }[];
}

export interface CompletionWord {
  word: string;
  description: string;
}

/** Every command of the program, hidden ones left out. */
export function completionTree(program: Command, path = ""): CompletionNode[] {
  const help = program.createHelp();
  const commands = help.visibleCommands(program).filter((command) => command.name() !== "help");
  const options = help.visibleOptions(program);
  const values = program.registeredArguments.flatMap(({ argChoices = [] }) => argChoices);
  const words = [
    ...values.map((word) => ({ word, description: "" })),
    ...commands.map((command) => ({ word: command.name(), description: command.description() })),
    ...options.map((option) => ({ word: nameOf(option), description: option.description })),
  ];
  const takesFiles = commands.length === 0 && values.length === 0;
  const choices = options.flatMap((option) =>
    option.argChoices === undefined ? [] : [{ option: nameOf(option), values: option.argChoices }],
  );
  const below = commands.flatMap((command) => completionTree(command, `${path} ${command.name()}`.trim()));
  return [{ path, words, takesFiles, choices }, ...below];
}

function nameOf({ long, short }: Option): string {
  return long ?? short ?? "";
}
