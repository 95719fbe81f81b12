import { ORGANIZATION_KINDS, type OrganizationKind } from "./network-facts.js";

/** Finds organizations in tables of which an earlier one comes before a later one. */
export interface Organizations {
  /** The owner of an AS: by its number, then by its name. */
  ofOwner(asn: number, name: string): Organization | undefined;
  ofName(name: string): Organization | undefined;
}

/**
 * A name costs one lookup per word. A whole name comes before one of which more words follow, and the longest
 * of those.
 */
export function openOrganizations(tables: readonly (readonly Organization[])[]): Organizations {
  const indexes = tables.map(indexTable);
  return {
    ofOwner(asn, name) {
      for (const index of indexes) {
        const found = index.byNumber.get(asn) ?? findName(index, name);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    ofName(name) {
      for (const index of indexes) {
        const found = findName(index, name);
        if (found !== undefined) return found;
      }
      return undefined;
    },
  };
}

interface Index {
  byNumber: ReadonlyMap<number, Organization>;
  byName: ReadonlyMap<string, Organization>;
  /** Words of the longest name that others may follow. */
  wordsMax: number;
}

function indexTable(rows: readonly Organization[]): Index {
  const byNumber = new Map<number, Organization>();
  const byName = new Map<string, Organization>();
  let wordsMax = 0;
  for (const row of rows) {
    for (const number of row.numbers) byNumber.set(number, row);
    for (const name of row.match) {
      byName.set(name, row);
      if (name.endsWith(" *")) wordsMax = Math.max(wordsMax, name.split(" ").length - 1);
    }
  }
  return { byNumber, byName, wordsMax };
}

function findName({ byName, wordsMax }: Index, name: string): Organization | undefined {
  if (name === "" || byName.size === 0) return undefined;
  const { words, core } = compareAs(name);
  const whole = byName.get(words.join(" ")) ?? byName.get(core);
  if (whole !== undefined) return whole;
  for (let count = Math.min(words.length, wordsMax); count > 0; count--) {
    const found = byName.get(`${words.slice(0, count).join(" ")} *`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A row of a table of organizations (see deploy/docs/how-to/companies.md): known by AS numbers, by names or by both. */
export interface Organization {
  name: string;
  domain: string;
  kind: OrganizationKind;
  numbers: readonly number[];
  /** Names in the form of `compareAs`, whole; one that ends in ` *` also holds where more words follow. */
  match: readonly string[];
}

/**
 * Reads `name,domain,kind,numbers,match`, no quotes; # begins a comment line. Errors name `path` and the
 * line.
 */
export function parseOrganizations(text: string, path: string): Organization[] {
  const lines = text.split("\n").map((line, index) => ({ line: line.trim(), number: index + 1 }));
  return lines
    .filter(({ line }) => line !== "" && !line.startsWith("#") && line !== HEADER)
    .map(({ line, number }) => {
      const row = parseRow(line.split(","));
      if (row === undefined) throw new Error(`${path}: line ${number} must be ${HEADER}`);
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

/** An organization's name as names are compared: words in lower case, without accents, punctuation and leading "the". */
export interface ComparedName {
  words: readonly string[];
  /** Without its legal forms: "Boeing Company" is `boeing`. */
  core: string;
}

export function compareAs(name: string): ComparedName {
  const words = wordsOf(name);
  let start = 0;
  let end = words.length;
  while (end > 1 && LEGAL_FORMS.has(words[end - 1]!)) end--;
  while (start < end - 1 && LEADING_FORMS.has(words[start]!)) start++;
  return { words: start === 0 ? words : words.slice(start), core: words.slice(start, end).join(" ") };
}

/** Letters on their own are one word: "U. S. Department" is "us department", and "L.L.C." is "llc". */
function wordsOf(name: string): string[] {
  const words = name
    .toLowerCase()
    .normalize("NFD")
    .replace(/[\p{M}'’`]/gu, "")
    .replaceAll("&", " and ")
    .split(/[^\p{L}\p{N}]+/u);
  const joined: string[] = [];
  let letters = false;
  for (const word of words) {
    if (word === "") continue;
    if (letters && word.length === 1) joined[joined.length - 1] += word;
    else joined.push(word);
    letters = word.length === 1;
  }
  return joined[0] === "the" && joined.length > 1 ? joined.slice(1) : joined;
}

const LEGAL_FORMS = new Set(
  `ab ag and aktiengesellschaft aps as asa bv bvba co company corp corporation cv de ev gmbh inc incorporated jsc kft kg
   kgaa kk limited llc llp lp ltd ltda mbh nv oao ojsc ooo oy oyj pjsc plc pte pty pvt sa sae sarl sas sau se sl slu sp
   spa spol srl sro zao zoo zrt`.split(/\s+/),
);

const LEADING_FORMS = new Set("ao cjsc jsc llc oao ojsc ooo pao pjsc pt zao".split(" "));

/** Whether two names can be those of one organization: they share a significant word. */
export function sharesWord(one: string, other: string): boolean {
  const words = new Set(significantWords(one));
  return significantWords(other).some((word) => words.has(word));
}

function significantWords(name: string): string[] {
  const plain = name.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  return plain.split(/[^\p{L}\p{N}]+/u).filter((word) => word.length > 1 && !COMMON_WORDS.has(word));
}

/** Legal forms, and words that half of the industry has in its names. */
const COMMON_WORDS = new Set(
  `ab ag as asn bv co company corp corporation gmbh group holding holdings inc incorporated jsc limited llc ltd
   nv oao ooo oy pjsc plc pty pvt sa sas se spa srl the of and for de do da la le
   access backbone broadband cable center centre cloud communication communications data digital global hosting
   information international internet isp mobile national net network networks online service services
   solutions system systems tech technologies technology telecom telecommunication telecommunications
   telekom university wireless`.split(/\s+/),
);
