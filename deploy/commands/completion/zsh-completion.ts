import type { CompletionNode, CompletionWord } from "./completion-tree.js";

/** For zsh, after `compinit`. */
export function zshCompletion(tree: readonly CompletionNode[]): string {
  const paths = tree.filter(({ path }) => path !== "").map(({ path }) => `"${path}"`);
  const cases = tree.map(({ path, words, takesFiles }) => {
    const list = words.map(choiceOf).join(" ");
    return `    "${path}") choices=(${list})${takesFiles ? "" : " files=no"} ;;`;
  });
  const values = tree.flatMap(({ path, choices }) =>
    choices.map(({ option, values }) => `    "${path} ${option}") choices=(${values.join(" ")}) files=no ;;`),
  );
  return `_maintainer_toolchain() {
  local path_of_command="" word files=""
  local -a choices
  for word in \${words[2,CURRENT-1]}; do
    case "\${path_of_command:+$path_of_command }$word" in
    ${paths.join("|")}) path_of_command="\${path_of_command:+$path_of_command }$word" ;;
    esac
  done
  case "$path_of_command" in
${cases.join("\n")}
  esac
  case "$path_of_command \${words[CURRENT-1]}" in
${values.join("\n")}
  esac
  _describe maintainer-toolchain choices
  [[ -n $files ]] || _files
}
compdef _maintainer_toolchain maintainer-toolchain
`;
}

function choiceOf({ word, description }: CompletionWord): string {
  const text = `${word.replaceAll(":", "\\:")}${description && `:${description.replaceAll("\n", " ")}`}`;
  return `'${text.replaceAll("'", "'\\''")}'`;
}
