import type { CompletionNode, CompletionWord } from "./completion-tree.js";

/** For zsh, after `compinit`. */
export function zshCompletion(tree: readonly CompletionNode[]): string {
  const paths = tree.filter(({ path }) => path !== "").map(({ path }) => `"${path}"`);
  const cases = tree.map(({ path, words }) => `    "${path}") choices=(${words.map(choiceOf).join(" ")}) ;;`);
  return `_maintainer_toolchain() {
  local path_of_command="" word
  local -a choices
  for word in \${words[2,CURRENT-1]}; do
    case "\${path_of_command:+$path_of_command }$word" in
    ${paths.join("|")}) path_of_command="\${path_of_command:+$path_of_command }$word" ;;
    esac
  done
  case "$path_of_command" in
${cases.join("\n")}
  esac
  _describe maintainer-toolchain choices
  _files
}
compdef _maintainer_toolchain maintainer-toolchain
`;
}

function choiceOf({ word, description }: CompletionWord): string {
  const text = `${word.replaceAll(":", "\\:")}:${description.replaceAll("\n", " ")}`;
  return `'${text.replaceAll("'", "'\\''")}'`;
}
