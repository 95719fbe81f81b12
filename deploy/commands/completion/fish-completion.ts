import type { CompletionNode, CompletionWord } from "./completion-tree.js";

/** One line for each word: fish asks the condition of each. */
export function fishCompletion(tree: readonly CompletionNode[]): string {
  const lines = tree.flatMap((node) => node.words.map((word) => lineOf(node, word, tree)));
  return `${lines.join("\n")}\n`;
}

function lineOf(
  { path }: CompletionNode,
  { word, description }: CompletionWord,
  tree: readonly CompletionNode[],
): string {
  const kind = word.startsWith("--") ? `-l ${word.slice(2)}` : `-a ${word}`;
  const condition = [...conditionsOf(path), ...notBelow(path, tree)].join("; and ");
  return `complete -c maintainer-toolchain -n ${quoted(condition || "true")} ${kind} -d ${quoted(description)}`;
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
