/**
 * How many JSON objects a text is made of, one behind the other with nothing but white space between them; undefined
 * for a text that is anything else. Takes time in proportion to its length.
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

/** Where the object that begins at `start` is closed; strings may hold brackets. */
function endOfObject(text: string, start: number): number | undefined {
  if (text[start] !== "{") return undefined;
  // A string that is not closed reaches to the end: were it tried again from each of its quotes, that would take for ever.
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
