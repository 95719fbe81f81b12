import type { CompletionNode } from "./completion-tree.js";

/** Completes commands and options, and files where a command takes one. Needs no package of completions. */
export function bashCompletion(tree: readonly CompletionNode[]): string {
  const paths = tree.filter(({ path }) => path !== "").map(({ path }) => `"${path}"`);
  const cases = tree.map(
    ({ path, words }) => `    "${path}") words="${words.map(({ word }) => word).join(" ")}" ;;`,
  );
  return `_maintainer_toolchain() {
  local current=\${COMP_WORDS[COMP_CWORD]} path= word words
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${path:+$path }$word" in
    ${paths.join("|")}) path="\${path:+$path }$word" ;;
    esac
  done
  case "$path" in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _maintainer_toolchain maintainer-toolchain
`;
}
