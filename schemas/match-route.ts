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
  if (work.left < 0) return false;
  if (ends[0]?.[0] === undefined || ends[0][0] === NOWHERE) return pieces.length === 0 && sent.length === 0;
  let from = 0;
  for (const [at, piece] of pieces.entries()) {
    const to = ends[at]?.[from] ?? NOWHERE;
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

/** For each piece and each place where it may begin: the last place where it may end so that the rest fits. */
function farthestEnds(
  pieces: readonly Piece[],
  sent: readonly SentCharacter[],
  { separator, work }: MatchingRules,
): Int32Array[] {
  const ends: Int32Array[] = [];
  let fits = (place: number) => place === sent.length;
  for (const piece of [...pieces].reverse()) {
    const farthest =
      "name" in piece
        ? endsOfVariable(piece, { sent, fits, separator })
        : endsOfText(piece, { sent, fits, work });
    ends.unshift(farthest);
    fits = (place) => (farthest[place] ?? NOWHERE) !== NOWHERE;
  }
  return ends;
}

interface Rest {
  sent: readonly SentCharacter[];
  /** Whether the pieces behind fit from that place to the end. */
  fits: (place: number) => boolean;
}

function endsOfText(piece: Text, { sent, fits, work }: Rest & { work: MatchingWork }): Int32Array {
  const ends = new Int32Array(sent.length + 1).fill(NOWHERE);
  for (let from = 0; from + piece.text.length <= sent.length && work.left >= 0; from++) {
    const to = from + piece.text.length;
    if (fits(to) && isAt(piece, { sent, from, work })) ends[from] = to;
  }
  return ends;
}

function endsOfVariable(
  { spans }: Variable,
  { sent, fits, separator }: Rest & { separator: string | undefined },
): Int32Array {
  const ends = new Int32Array(sent.length + 1).fill(NOWHERE);
  let farthest = NOWHERE;
  for (let from = sent.length - 1; from >= 0; from--) {
    if (farthest === NOWHERE && fits(from + 1)) farthest = from + 1;
    if (!spans && sent[from]?.match === separator) farthest = NOWHERE;
    ends[from] = farthest;
  }
  return ends;
}

interface Place {
  sent: readonly SentCharacter[];
  from: number;
  work: MatchingWork;
}

function isAt({ text }: Text, { sent, from, work }: Place): boolean {
  const differing = text.findIndex((character, at) => sent[from + at]?.match !== character);
  work.left -= differing < 0 ? text.length : differing;
  return differing < 0;
}

function valueOf({ spans }: Variable, sent: readonly SentCharacter[]): string {
  return sent.map(({ plain, spelt }) => (spans ? spelt : plain)).join("");
}
