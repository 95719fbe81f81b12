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
export function wordsOf(name: string): string[] {
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
