import type { SentCharacter } from "./decode-percent.js";
import type { Piece, RequestTarget, RouteTemplate, Text, Variable } from "./url-template.js";

/** The characters that may still be compared for a request. Strangers choose both routes and requests. */
export interface MatchingWork {
  left: number;
}

/** About ten milliseconds: enough to try 200 routes of three variables on a path of 1,000 characters. */
export const MATCHING_WORK_MAX = 1_500_000;

/**
 * Undefined when the route does not match. Subtracts pieces times characters from `work`, and the characters
 * compared. Nothing matches when `work` falls below zero.
 */
export function matchRoute(
  { path, query }: RouteTemplate,
  target: RequestTarget,
  work: MatchingWork = { left: MATCHING_WORK_MAX },
): ReadonlyMap<string, string> | undefined {
  const variables = new Map<string, string>();
  if (!matchPieces(path, target.path, { separator: "/", variables, work })) return undefined;
  for (const { name, value } of query) {
    const sent = target.query.get(name);
    if (sent === undefined || !matchPieces(value, sent, { separator: undefined, variables, work }))
      return undefined;
  }
  return variables;
}

interface Matching extends MatchingRules {
  variables: Map<string, string>;
}

interface MatchingRules {
  /** A variable that does not span segments cannot contain this. */
  separator: "/" | undefined;
  work: MatchingWork;
}

function matchPieces(
  pieces: readonly Piece[],
  sent: readonly SentCharacter[],
  { separator, variables, work }: Matching,
): boolean {
  if (!startMatches(pieces, sent, work)) return false;
  work.left -= pieces.length * (sent.length + 1);
  if (work.left < 0) return false;
  const ends = farthestEnds(pieces, sent, { separator, work });
  if (work.left < 0 || ends[0] === NO_MATCH) return false;
  let from = 0;
  for (const [at, piece] of pieces.entries()) {
    const to = ends[at * (sent.length + 1) + from] ?? NO_MATCH;
    if ("name" in piece) variables.set(piece.name, valueOf(piece, sent.slice(from, to)));
    from = to;
  }
  return true;
}

const NO_MATCH = -1;

/** Excludes most routes early, as they differ in their beginning. */
function startMatches(
  [first]: readonly Piece[],
  sent: readonly SentCharacter[],
  work: MatchingWork,
): boolean {
  return first === undefined || "name" in first || isAt(first, { sent, from: 0, work });
}

/**
 * A row for each piece and a column for each start: the last position where the piece can end so that the
 * following ones match. The last row is for no piece. Reused by the next call.
 */
function farthestEnds(
  pieces: readonly Piece[],
  sent: readonly SentCharacter[],
  { separator, work }: MatchingRules,
): Int32Array {
  const width = sent.length + 1;
  const ends = emptyTable((pieces.length + 1) * width);
  ends[pieces.length * width + sent.length] = sent.length;
  for (let at = pieces.length - 1; at >= 0; at--) {
    const piece = pieces[at];
    if (piece === undefined) continue;
    const row = { ends, first: at * width, next: (at + 1) * width, sent };
    if ("name" in piece) fillForVariable(row, piece, separator);
    else fillForText(row, piece, work);
  }
  return ends;
}

/** Large enough for most requests. A new array for each would be most of the garbage. */
const REUSED = new Int32Array(4096);

function emptyTable(size: number): Int32Array {
  const ends = size <= REUSED.length ? REUSED : new Int32Array(size);
  return ends.fill(NO_MATCH, 0, size);
}

/** The offsets in `ends` of a piece's row and of the next piece's row. */
interface Row {
  ends: Int32Array;
  first: number;
  next: number;
  sent: readonly SentCharacter[];
}

function fillForText({ ends, first, next, sent }: Row, piece: Text, work: MatchingWork): void {
  const { length } = piece.text;
  for (let from = 0; from + length <= sent.length && work.left >= 0; from++) {
    const to = from + length;
    if (ends[next + to] !== NO_MATCH && isAt(piece, { sent, from, work })) ends[first + from] = to;
  }
}

function fillForVariable(
  { ends, first, next, sent }: Row,
  { spans }: Variable,
  separator: string | undefined,
): void {
  let farthest = NO_MATCH;
  for (let from = sent.length - 1; from >= 0; from--) {
    if (farthest === NO_MATCH && ends[next + from + 1] !== NO_MATCH) farthest = from + 1;
    if (!spans && sent[from]?.match === separator) farthest = NO_MATCH;
    ends[first + from] = farthest;
  }
}

interface Position {
  sent: readonly SentCharacter[];
  from: number;
  work: MatchingWork;
}

function isAt({ text }: Text, { sent, from, work }: Position): boolean {
  let alike = 0;
  while (alike < text.length && sent[from + alike]?.match === text[alike]) alike++;
  work.left -= alike;
  return alike === text.length;
}

function valueOf({ spans }: Variable, sent: readonly SentCharacter[]): string {
  return sent.map(({ plain, encoded }) => (spans ? encoded : plain)).join("");
}
