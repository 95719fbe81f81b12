import { Argument, Command } from "commander";
import { bashCompletion } from "./completion/bash-completion.js";
import { completionTree } from "./completion/completion-tree.js";
import { fishCompletion } from "./completion/fish-completion.js";
import { zshCompletion } from "./completion/zsh-completion.js";

const SCRIPTS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;

/** `completion <shell>`: prints a script for the shell. It knows the commands of this version. */
export function completionCommand(program: () => Promise<Command>): Command {
  return new Command("completion")
    .addArgument(new Argument("<shell>").choices(Object.keys(SCRIPTS)))
    .addHelpText(
      "after",
      '\nbash: eval "$(maintainer-toolchain completion bash)" in ~/.bashrc' +
        '\nzsh:  eval "$(maintainer-toolchain completion zsh)" in ~/.zshrc, after compinit' +
        "\nfish: maintainer-toolchain completion fish > ~/.config/fish/completions/maintainer-toolchain.fish",
    )
    .action(async (shell: keyof typeof SCRIPTS) => {
      process.stdout.write(SCRIPTS[shell](completionTree(await program())));
    });
}
