import { spawnSync } from "node:child_process";
import { Argument, Command, Option } from "commander";
import { expect, test } from "vitest";
import { bashCompletion } from "../../../../deploy/commands/completion/bash-completion.js";
import { completionTree } from "../../../../deploy/commands/completion/completion-tree.js";
import { fishCompletion } from "../../../../deploy/commands/completion/fish-completion.js";
import { zshCompletion } from "../../../../deploy/commands/completion/zsh-completion.js";
import { describeWithCommand } from "../../../support/program/describe-with-command.js";

const program = new Command("maintainer-toolchain").addCommand(
  new Command("admin")
    .option("--new", "make it")
    .addCommand(
      new Command("list-accounts").description("List everybody's accounts").option("--json", "as JSON"),
    )
    .addCommand(new Command("dead-letters").addCommand(new Command("list")).addCommand(new Command("retry")))
    .addCommand(new Command("parked"), { hidden: true }),
);
program.addCommand(new Command("start").description("Run the service"));
program.addCommand(
  new Command("send").argument("<files...>").addOption(new Option("--format <it>").choices(["csv", "s3"])),
);
program.addCommand(new Command("speak").addArgument(new Argument("<language>").choices(["fr", "it"])));

const tree = completionTree(program);

/** Runs the script in a new shell, in the folder that has README.md. */
function runIn(shell: string, script: string): string {
  const { stdout, stderr } = spawnSync(shell, ["-c", script], { encoding: "utf8" });
  expect(stderr).toBe("");
  return stdout.trim();
}

describeWithCommand("completion in bash", { command: ["bash"], install: "bash" }, () => {
  test.each<[string, string[], string]>([
    ["commands", ["st"], "start"],
    ["commands below a command", ["admin", ""], "list-accounts dead-letters --new --help"],
    ["commands behind an option", ["admin", "--new", "list"], "list-accounts"],
    ["commands two below", ["admin", "dead-letters", "re"], "retry"],
    ["options", ["admin", "list-accounts", "--j"], "--json"],
    ["values of an option", ["send", "--format", ""], "csv s3"],
    ["words that an argument may be", ["speak", "f"], "fr"],
    ["nothing that is hidden", ["admin", "par"], ""],
  ])("completes %s", (_, words, expected) => {
    const script = `${bashCompletion(tree)}
      COMP_WORDS=(maintainer-toolchain ${words.map((word) => `"${word}"`).join(" ")})
      COMP_CWORD=${words.length}
      _maintainer_toolchain
      echo "\${COMPREPLY[*]}"`;
    expect(runIn("bash", script)).toBe(expected);
  });
});

describeWithCommand("completion in fish", { command: ["fish"], install: "fish", rare: true }, () => {
  test.each<[string, string, string[]]>([
    ["commands", "st", ["start"]],
    ["commands below a command, and no files", "admin ", ["dead-letters", "list-accounts"]],
    ["commands behind an option", "admin --new list", ["list-accounts"]],
    ["commands two below", "admin dead-letters re", ["retry"]],
    ["options", "admin list-accounts --j", ["--json"]],
    ["values of an option", "send --format ", ["csv", "s3"]],
    ["words that an argument may be", "speak ", ["fr", "it"]],
    ["files", "send READ", ["README.md"]],
    ["no files where a command must follow", "admin READ", []],
    ["nothing that is hidden", "admin par", []],
  ])("completes %s", (_, line, expected) => {
    const answer = runIn("fish", `${fishCompletion(tree)}\ncomplete -C 'maintainer-toolchain ${line}'`);
    const words = answer.split("\n").map((each) => each.split("\t")[0]);
    expect(words.filter((word) => word !== "")).toEqual(expected);
  });
});

describeWithCommand("completion in zsh", { command: ["zsh"], install: "zsh", rare: true }, () => {
  test.each<[string, string, string]>([
    ["a command", "st", "start"],
    ["a command below a command", "admin li", "admin list-accounts"],
    ["a command behind an option", "admin --new list", "admin --new list-accounts"],
    ["a command two below", "admin dead-letters re", "admin dead-letters retry"],
    ["an option", "admin list-accounts --j", "admin list-accounts --json"],
    ["the value of an option", "send --format c", "send --format csv"],
    ["a word that an argument may be", "speak f", "speak fr"],
    ["a file", "send READ", "send README.md"],
    ["no file where a command must follow", "admin READ", "admin READ"],
    ["nothing that is hidden", "admin par", "admin par"],
  ])("completes %s", (_, line, expected) => {
    expect(typeInZsh(`maintainer-toolchain ${line}`)).toBe(`maintainer-toolchain ${expected}`);
  });
});

/** Types the line and Tab into a zsh on a terminal of its own, and answers the line that is there then. */
function typeInZsh(line: string): string {
  return runIn(
    "zsh",
    `zmodload zsh/zpty
    zpty shell zsh -f -i
    zpty -w shell ${quoted(`PS1= TERM=dumb; autoload -U compinit; compinit -u -D; ${zshCompletion(tree)}`)}
    zpty -w shell ${quoted('show() { print -r -- "<""$BUFFER"">" }; zle -N show; bindkey "^X" show; print -r -- "rea""dy"')}
    zpty -r -m shell answer "*ready*"
    zpty -w -n shell ${quoted(line)}$'\t\x18'
    zpty -r -m shell answer "*<*>*"
    zpty -d shell
    print -r -- \${\${answer##*<}%%>*}`,
  ).replace(/\r/g, "");
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

test("descriptions with quotes stay inside their word", () => {
  expect(zshCompletion(tree)).toContain(`'list-accounts:List everybody'\\''s accounts'`);
  expect(fishCompletion(tree)).toContain(`-a list-accounts -d 'List everybody\\'s accounts'`);
});
