/**
 * Counts the JSON objects of a text that are separated by nothing but white space; undefined for any other text. Takes
 * linear time.
 */
export function countObjects(text: string): number | undefined {
  let count = 0;
  let start = skipSpace(text, 0);
  while (start < text.length) {
    const end = endOfObject(text, start);
    if (end === undefined || !isJson(text.slice(start, end))) return undefined;
    count++;
    start = skipSpace(text, end);
  }
  return count;
}

const SPACE = /[ \t\r\n]*/y;

function skipSpace(text: string, from: number): number {
  SPACE.lastIndex = from;
  SPACE.exec(text);
  return SPACE.lastIndex;
}

/** The position after the object that begins at `start`. Brackets inside strings are skipped. */
function endOfObject(text: string, start: number): number | undefined {
  if (text[start] !== "{") return undefined;
  // A string without an end matches up to the end of the text. Retrying from each quote would take quadratic time.
  const tokens = /[{}]|"(?:[^"\\]|\\[^])*(?:"|\\?$)/g;
  tokens.lastIndex = start;
  let depth = 0;
  for (let token = tokens.exec(text); token !== null; token = tokens.exec(text)) {
    if (token[0] === "{") depth++;
    if (token[0] === "}") depth--;
    if (depth === 0) return tokens.lastIndex;
  }
  return undefined;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
