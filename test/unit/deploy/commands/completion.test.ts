import { spawnSync } from "node:child_process";
import { Command } from "commander";
import { expect, test } from "vitest";
import { bashCompletion } from "../../../../deploy/commands/completion/bash-completion.js";
import { completionTree } from "../../../../deploy/commands/completion/completion-tree.js";
import { fishCompletion } from "../../../../deploy/commands/completion/fish-completion.js";
import { zshCompletion } from "../../../../deploy/commands/completion/zsh-completion.js";

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

const tree = completionTree(program);

function isThere(shell: string): boolean {
  return spawnSync("sh", ["-c", `command -v ${shell}`]).status === 0;
}

/** Runs the script in a new shell. */
function runIn(shell: string, script: string): string {
  const { stdout, stderr } = spawnSync(shell, ["-c", script], { encoding: "utf8" });
  expect(stderr).toBe("");
  return stdout.trim();
}

test.skipIf(!isThere("bash")).each<[string, string[], string]>([
  ["commands", ["st"], "start"],
  ["commands below a command", ["admin", ""], "list-accounts dead-letters --new --help"],
  ["commands behind an option", ["admin", "--new", "list"], "list-accounts"],
  ["commands two below", ["admin", "dead-letters", "re"], "retry"],
  ["options", ["admin", "list-accounts", "--j"], "--json"],
  ["nothing that is hidden", ["admin", "par"], ""],
])("bash completes %s", (_, words, expected) => {
  const script = `${bashCompletion(tree)}
    COMP_WORDS=(maintainer-toolchain ${words.map((word) => `"${word}"`).join(" ")})
    COMP_CWORD=${words.length}
    _maintainer_toolchain
    echo "\${COMPREPLY[*]}"`;
  expect(runIn("bash", script)).toBe(expected);
});

test.skipIf(!isThere("fish"))("fish completes commands and options", () => {
  const complete = (line: string) => runIn("fish", `${fishCompletion(tree)}\ncomplete -C '${line}'`);
  expect(complete("maintainer-toolchain st")).toBe("start\tRun the service");
  expect(complete("maintainer-toolchain admin list-accounts --j")).toContain("--json");
});

test.skipIf(!isThere("zsh"))("zsh reads its script", () => {
  expect(runIn("zsh", `autoload -U compinit && compinit -u -D\n${zshCompletion(tree)}\necho read`)).toBe(
    "read",
  );
});

test("descriptions with quotes stay inside their word", () => {
  expect(zshCompletion(tree)).toContain(`'list-accounts:List everybody'\\''s accounts'`);
  expect(fishCompletion(tree)).toContain(`-a list-accounts -d 'List everybody\\'s accounts'`);
});
