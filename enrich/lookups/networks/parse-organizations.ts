import { ORGANIZATION_KINDS } from "./network-facts.js";
import type { OrganizationKind } from "./network-facts.js";
import { compareAs, wordsOf } from "./organization-name.js";

/** A row of a table of organizations (see deploy/docs/companies.md): known by AS numbers, by names or by both. */
export interface Organization {
  name: string;
  domain: string;
  kind: OrganizationKind;
  numbers: readonly number[];
  /** Names in the form of `compareAs`, whole; one that ends in ` *` also holds where more words follow. */
  match: readonly string[];
}

/**
 * Reads `name,domain,kind,numbers,match`, no quotes; lines that start with # are comments. An error names `path` and the
 * line.
 */
export function parseOrganizations(text: string, path: string): Organization[] {
  const lines = text.split("\n").map((line, index) => ({ line: line.trim(), number: index + 1 }));
  return lines
    .filter(({ line }) => line !== "" && !line.startsWith("#") && line !== HEADER)
    .map(({ line, number }) => {
      const row = parseRow(line.split(","));
      if (row === undefined) throw new Error(`${path}: line ${number} is not ${HEADER}`);
      return row;
    });
}

const HEADER = "name,domain,kind,numbers,match";
const NUMBERS = /^(?:\d{1,10}(?: \d{1,10})*)?$/;
const LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
const DOMAIN = new RegExp(`^(?:${LABEL}\\.)+(?:[a-z]{2,}|xn--[a-z0-9-]+)$`);

function parseRow(cells: readonly string[]): Organization | undefined {
  const [name = "", domain = "", kind = "", numbers = "", match = ""] = cells.map((cell) => cell.trim());
  const patterns = match === "" ? [] : match.split(";").map(parsePattern);
  const isRow =
    cells.length <= 5 && name !== "" && DOMAIN.test(domain) && isKind(kind) && NUMBERS.test(numbers);
  if (!isRow || patterns.includes("") || patterns.includes("*")) return undefined;
  return {
    name,
    domain,
    kind,
    numbers: numbers === "" ? [] : numbers.split(" ").map(Number),
    match: match === "" && numbers === "" ? [compareAs(name).core] : patterns,
  };
}

/** `boeing*` becomes `boeing *`, so that its last word is whole. */
function parsePattern(text: string): string {
  const words = wordsOf(text).join(" ");
  return text.trimEnd().endsWith("*") ? `${words} *`.trimStart() : words;
}

function isKind(kind: string): kind is OrganizationKind {
  return (ORGANIZATION_KINDS as readonly string[]).includes(kind);
}
