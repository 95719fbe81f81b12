const NAMED_MAX = 20;

/** Names in a sentence, or the first of very many. */
export function listed(names: readonly string[]): string {
  const more = names.length > NAMED_MAX ? ` and ${names.length - NAMED_MAX} more` : "";
  return `${names.slice(0, NAMED_MAX).join(", ")}${more}`;
}
