/** A program as its user agent names it; neither name nor version are checked. */
export interface Product {
  name: string;
  version?: string;
}

/**
 * The program of a user agent that no other rule knows: its first `name/version` or `name version`, or its first word
 * with the version in brackets that follows, or that word alone. Words before it, such as a maker's, are left out.
 */
export function parseProduct(text: string): Product | undefined {
  const [head = "", comment = ""] = text.split("(", 2);
  const words = (head.trim() === "" ? withoutComments(text) : head).split(/[\s;,]+/).filter(Boolean);
  let first: string | undefined;
  for (const [index, word] of words.slice(0, WORDS_MAX).entries()) {
    const product = PRODUCT.exec(word);
    if (product !== null) return { name: product[1]!, version: product[2]! };
    if (!NAME.test(word)) continue;
    const [name = ""] = word.split("/", 1);
    // A slash without a number after it ends the search, too: `npm/? node/v20.10.0` is npm.
    if (word.includes("/")) return { name: first ?? name };
    const version = VERSION.exec(words[index + 1] ?? "")?.[1];
    if (version !== undefined) return { name, version };
    first ??= name;
  }
  if (first === undefined) return undefined;
  const version = DOTTED.exec(comment)?.[1];
  return version === undefined ? { name: first } : { name: first, version };
}

/** How many words may stand before the product. */
const WORDS_MAX = 5;

/** The name may be a path such as `github.com/acme/tool`. What follows the version in the same word is left out. */
const PRODUCT = /^([\w@][\w.@+:-]*(?:\/[A-Za-z][\w.@+:-]*)*)\/v?(\d[\w.+~-]*)/i;
const NAME = /^[A-Za-z@][\w.@+-]*(?:\/\S*)?$/;
const VERSION = /^v?(\d[\w.+~-]*)$/i;
const DOTTED = /^v?(\d+\.[\w.+~-]*)/;

function withoutComments(text: string): string {
  return text.replaceAll(/\([^()]*\)?/g, " ");
}
