import type { SentCharacter } from "./decode-percent.js";
import type { Piece, RequestTarget, RouteTemplate, Text, Variable } from "./route-template.js";

/** The variables that the target gives a route, or undefined where the route does not match; see `RouteTemplate`. */
export function matchRoute(
  { path, query }: RouteTemplate,
  target: RequestTarget,
): ReadonlyMap<string, string> | undefined {
  const variables = new Map<string, string>();
  if (!matchPieces(path, target.path, { separator: "/", variables })) return undefined;
  for (const { name, value } of query) {
    const sent = target.query.get(name);
    if (sent === undefined || !matchPieces(value, sent, { separator: undefined, variables }))
      return undefined;
  }
  return variables;
}

interface Matching {
  /** What a variable that does not span cannot contain. */
  separator: "/" | undefined;
  variables: Map<string, string>;
}

/** Takes time in proportion to pieces times characters, whatever is sent: both come from strangers. */
function matchPieces(
  pieces: readonly Piece[],
  sent: readonly SentCharacter[],
  { separator, variables }: Matching,
): boolean {
  if (!beginsLike(pieces, sent)) return false;
  const ends = farthestEnds(pieces, sent, separator);
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
function beginsLike([first]: readonly Piece[], sent: readonly SentCharacter[]): boolean {
  return first === undefined || "name" in first || isAt(first, sent, 0);
}

/** For each piece and each place where it may begin: the last place where it may end so that the rest fits. */
function farthestEnds(
  pieces: readonly Piece[],
  sent: readonly SentCharacter[],
  separator: string | undefined,
): Int32Array[] {
  const ends: Int32Array[] = [];
  let fits = (place: number) => place === sent.length;
  for (const piece of [...pieces].reverse()) {
    const farthest =
      "name" in piece ? endsOfVariable(piece, { sent, fits, separator }) : endsOfText(piece, { sent, fits });
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

function endsOfText(piece: Text, { sent, fits }: Rest): Int32Array {
  const ends = new Int32Array(sent.length + 1).fill(NOWHERE);
  for (let from = 0; from + piece.text.length <= sent.length; from++) {
    const to = from + piece.text.length;
    if (fits(to) && isAt(piece, sent, from)) ends[from] = to;
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

function isAt({ text }: Text, sent: readonly SentCharacter[], from: number): boolean {
  return text.every((character, at) => sent[from + at]?.match === character);
}

function valueOf({ spans }: Variable, sent: readonly SentCharacter[]): string {
  return sent.map(({ plain, spelt }) => (spans ? spelt : plain)).join("");
}
