import type { CompletionNode } from "./completion-tree.js";

/** Completes commands, options and their values, and files where a command may take one. Needs no package of completions. */
export function bashCompletion(tree: readonly CompletionNode[]): string {
  const paths = tree.filter(({ path }) => path !== "").map(({ path }) => `"${path}"`);
  const cases = tree.map(({ path, words, takesFiles }) => {
    const list = words.map(({ word }) => word).join(" ");
    return `    "${path}") words="${list}"${takesFiles ? "" : " files=no"} ;;`;
  });
  const choices = tree.flatMap(({ path, choices }) =>
    choices.map(({ option, values }) => `    "${path} ${option}") words="${values.join(" ")}" files=no ;;`),
  );
  return `_maintainer_toolchain() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} path= word words files=
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${path:+$path }$word" in
    ${paths.join("|")}) path="\${path:+$path }$word" ;;
    esac
  done
  case "$path" in
${cases.join("\n")}
  esac
  case "$path $previous" in
${choices.join("\n")}
  esac
  [ -z "$files" ] || compopt +o default 2> /dev/null
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _maintainer_toolchain maintainer-toolchain
`;
}
