import type { CompletionNode, CompletionWord } from "./completion-tree.js";

/** One line for each word: fish asks the condition of each. */
export function fishCompletion(tree: readonly CompletionNode[]): string {
  const lines = tree.flatMap((node) => {
    const where = `complete -c maintainer-toolchain -n ${quoted(conditionOf(node, tree))}`;
    const words = node.words.map((word) => `${where} ${argumentsOf(word, node)}`);
    return node.takesFiles ? words : [`${where} -f`, ...words];
  });
  return `${lines.join("\n")}\n`;
}

function argumentsOf({ word, description }: CompletionWord, { choices }: CompletionNode): string {
  const described = description === "" ? "" : ` -d ${quoted(description)}`;
  if (!word.startsWith("--")) return `-a ${word}${described}`;
  const values = choices.find(({ option }) => option === word)?.values;
  return `-l ${word.slice(2)}${values === undefined ? "" : ` -x -a ${quoted(values.join(" "))}`}${described}`;
}

function conditionOf({ path }: CompletionNode, tree: readonly CompletionNode[]): string {
  return [...conditionsOf(path), ...notBelow(path, tree)].join("; and ") || "true";
}

function conditionsOf(path: string): string[] {
  return path === "" ? [] : path.split(" ").map((word) => `__fish_seen_subcommand_from ${word}`);
}

/** A command's words end where one of the commands below it is given. */
function notBelow(path: string, tree: readonly CompletionNode[]): string[] {
  const depth = path === "" ? 0 : path.split(" ").length;
  const below = tree
    .map((node) => node.path.split(" "))
    .filter((words) => words.length === depth + 1 && words.slice(0, depth).join(" ") === path)
    .map((words) => words.at(-1) ?? "")
    .filter((word) => word !== "");
  return below.length === 0 ? [] : [`not __fish_seen_subcommand_from ${below.join(" ")}`];
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
