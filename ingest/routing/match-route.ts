import type { SentCharacter } from "./decode-percent.js";
import type { Piece, RequestTarget, RouteTemplate, Text, Variable } from "./route-template.js";

/** How much may still be compared for a request, in characters; both routes and requests come from strangers. */
export interface MatchingWork {
  left: number;
}

/** Some ten milliseconds. Two hundred routes of three variables each are tried on a path of 1,000 characters within it. */
export const MATCHING_WORK_MAX = 1_500_000;

/**
 * The variables that the target gives a route, or undefined where the route does not match; see `RouteTemplate`. Takes
 * pieces times characters off `work`, and as many as it compares; where that does not suffice, nothing matches.
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
  /** What a variable that does not span cannot contain. */
  separator: "/" | undefined;
  work: MatchingWork;
}

function matchPieces(
  pieces: readonly Piece[],
  sent: readonly SentCharacter[],
  { separator, variables, work }: Matching,
): boolean {
  if (!beginsLike(pieces, sent, work)) return false;
  work.left -= pieces.length * (sent.length + 1);
  if (work.left < 0) return false;
  const ends = farthestEnds(pieces, sent, { separator, work });
  if (work.left < 0 || ends[0] === NOWHERE) return false;
  let from = 0;
  for (const [at, piece] of pieces.entries()) {
    const to = ends[at * (sent.length + 1) + from] ?? NOWHERE;
    if ("name" in piece) variables.set(piece.name, valueOf(piece, sent.slice(from, to)));
    from = to;
  }
  return true;
}

const NOWHERE = -1;

/** Most routes differ in what they begin with. */
function beginsLike([first]: readonly Piece[], sent: readonly SentCharacter[], work: MatchingWork): boolean {
  return first === undefined || "name" in first || isAt(first, { sent, from: 0, work });
}

/**
 * For each piece a row, and in it for each place where the piece may begin: the last place where it may end so that the
 * rest fits. Behind those of the pieces, the row of nothing, which fits at the end. Good until the next call.
 */
function farthestEnds(
  pieces: readonly Piece[],
  sent: readonly SentCharacter[],
  { separator, work }: MatchingRules,
): Int32Array {
  const width = sent.length + 1;
  const ends = nowhere((pieces.length + 1) * width);
  ends[pieces.length * width + sent.length] = sent.length;
  for (let at = pieces.length - 1; at >= 0; at--) {
    const piece = pieces[at];
    if (piece === undefined) continue;
    const row = { ends, first: at * width, behind: (at + 1) * width, sent };
    if ("name" in piece) fillForVariable(row, piece, separator);
    else fillForText(row, piece, work);
  }
  return ends;
}

/** Enough for most requests: made anew for each, it would be much of what is collected as garbage. */
const REUSED = new Int32Array(4096);

function nowhere(places: number): Int32Array {
  const ends = places <= REUSED.length ? REUSED : new Int32Array(places);
  return ends.fill(NOWHERE, 0, places);
}

/** Where in `ends` the row of a piece begins, and that of the piece behind it. */
interface Row {
  ends: Int32Array;
  first: number;
  behind: number;
  sent: readonly SentCharacter[];
}

function fillForText({ ends, first, behind, sent }: Row, piece: Text, work: MatchingWork): void {
  const { length } = piece.text;
  for (let from = 0; from + length <= sent.length && work.left >= 0; from++) {
    const to = from + length;
    if (ends[behind + to] !== NOWHERE && isAt(piece, { sent, from, work })) ends[first + from] = to;
  }
}

function fillForVariable(
  { ends, first, behind, sent }: Row,
  { spans }: Variable,
  separator: string | undefined,
): void {
  let farthest = NOWHERE;
  for (let from = sent.length - 1; from >= 0; from--) {
    if (farthest === NOWHERE && ends[behind + from + 1] !== NOWHERE) farthest = from + 1;
    if (!spans && sent[from]?.match === separator) farthest = NOWHERE;
    ends[first + from] = farthest;
  }
}

interface Place {
  sent: readonly SentCharacter[];
  from: number;
  work: MatchingWork;
}

function isAt({ text }: Text, { sent, from, work }: Place): boolean {
  let alike = 0;
  while (alike < text.length && sent[from + alike]?.match === text[alike]) alike++;
  work.left -= alike;
  return alike === text.length;
}

function valueOf({ spans }: Variable, sent: readonly SentCharacter[]): string {
  return sent.map(({ plain, spelt }) => (spans ? spelt : plain)).join("");
}
