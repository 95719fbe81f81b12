/**
 * Objects between white space, each as sent but on one line; undefined for any other text. Of more than `objectsMax` it reads
 * one more. Takes linear time.
 */
export function readObjects(text: string, objectsMax: number): string[] | undefined {
  const objects: string[] = [];
  let start = skipSpace(text, 0);
  while (start < text.length && objects.length <= objectsMax) {
    const end = endOfObject(text, start);
    const object = end === undefined ? "" : text.slice(start, end);
    if (end === undefined || !isJson(object)) return undefined;
    objects.push(onOneLine(object));
    start = skipSpace(text, end);
  }
  return objects;
}

/** JSON has no line breaks inside strings. */
function onOneLine(json: string): string {
  return json.replace(/[\r\n]+/g, " ");
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
