import { matchRoute, MATCHING_WORK_MAX } from "./match-route.js";
import { readRequestTarget, type Piece, type RouteTemplate } from "./route-template.js";

/** A route and the values of its variables. */
export interface FoundRoute<Route> {
  route: Route;
  variables: ReadonlyMap<string, string>;
}

/**
 * The route that takes a request's target (path and query), of routes in the order of `compareRoutes`. None where more
 * than `MATCHING_WORK_MAX` would have to be compared: others wait for as long.
 */
export function findRoute<Route extends { template: RouteTemplate }>(
  inOrder: readonly Route[],
  target: string,
): FoundRoute<Route> | undefined {
  const read = readRequestTarget(target);
  const work = { left: MATCHING_WORK_MAX };
  for (const route of inOrder) {
    const variables = matchRoute(route.template, read, work);
    if (variables !== undefined) return { route, variables };
    if (work.left < 0) return undefined;
  }
  return undefined;
}

/** In the order of `compareRoutes`. */
export function sortRoutes<Route extends { template: RouteTemplate }>(routes: readonly Route[]): Route[] {
  const placed = routes.map((route) => ({ route, order: orderOf(route.template) }));
  return placed.sort((a, b) => compareOrders(a.order, b.order)).map(({ route }) => route);
}

/**
 * Which of two routes comes first where both match: the more literal path, segment by segment. `/foo/latest` beats
 * `/foo/{v}` beats `/{+path}`; a segment that is partly literal lies between the two, the one with more text first.
 * What stands behind a variable that spans segments is compared from the end, as that is where it lines up. Of equal
 * paths the one that asks for more of the query comes first. Negative: the first; zero: they conflict.
 */
export function compareRoutes(a: RouteTemplate, b: RouteTemplate): number {
  return compareOrders(orderOf(a), orderOf(b));
}

/** Whether two routes match exactly the same requests: only the names of their variables differ. */
export function routesConflict(a: RouteTemplate, b: RouteTemplate): boolean {
  return keyOf(a) === keyOf(b);
}

/** Compared one after the other; the smaller comes first, and of lists where one begins the other, the longer. */
type Order = readonly (readonly number[][] | string)[];

function orderOf(template: RouteTemplate): Order {
  const segments = segmentsOf(template.path);
  const first = segments.findIndex(spans);
  const last = segments.findLastIndex(spans);
  const ahead = first < 0 ? segments : segments.slice(0, first + 1);
  const behind = first < 0 ? [] : segments.slice(Math.max(last, first + 1)).reverse();
  const between = first < 0 ? [] : segments.slice(first + 1, last);
  const values = template.query.map(({ value }) => rankOf(value.map(withinParameter)));
  return [
    ahead.map(rankOf),
    behind.map(rankOf),
    [[-between.length]],
    between.map(rankOf),
    [[-values.length]],
    values,
    keyOf(template),
  ];
}

/** Cut at each `/`. */
function segmentsOf(path: readonly Piece[]): Piece[][] {
  const segments: Piece[][] = [[]];
  for (const piece of path) {
    if ("name" in piece) segments.at(-1)?.push(piece);
    else
      for (const character of piece.text)
        if (character === "/") segments.push([]);
        else segments.at(-1)?.push({ text: [character] });
  }
  return segments;
}

function spans(segment: readonly Piece[]): boolean {
  return segment.some((piece) => "name" in piece && piece.spans);
}

const LITERAL = 0;
const PARTLY = 1;
const VARIABLE = 2;

/** Smaller is more literal. */
function rankOf(pieces: readonly Piece[]): number[] {
  const variables = pieces.filter((piece) => "name" in piece);
  const spanning = variables.filter((variable) => variable.spans).length;
  if (variables.length === 0) return [LITERAL];
  const characters = pieces.reduce((sum, piece) => sum + ("text" in piece ? piece.text.length : 0), 0);
  const kind = characters === 0 ? VARIABLE : PARTLY;
  return [spanning > 0 ? kind + VARIABLE : kind, -characters, spanning];
}

/** In the query both kinds of variable match the same. */
function withinParameter(piece: Piece): Piece {
  return "name" in piece ? { ...piece, spans: false } : piece;
}

function compareOrders(a: Order, b: Order): number {
  for (const [at, one] of a.entries()) {
    const other = b[at] ?? [];
    const order =
      typeof one === "string" || typeof other === "string" ? compare(one, other) : compareLists(one, other);
    if (order !== 0) return order;
  }
  return 0;
}

function compareLists(a: readonly number[][], b: readonly number[][]): number {
  for (const [at, one] of a.entries()) {
    const other = b[at];
    if (other === undefined) return -1;
    const differing = one.findIndex((number, place) => number !== other[place]);
    if (differing >= 0) return (one[differing] ?? 0) - (other[differing] ?? 0);
  }
  return a.length - b.length === 0 ? 0 : 1;
}

function compare<Value>(a: Value, b: Value): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** The template without the names of its variables. */
function keyOf({ path, query }: RouteTemplate): string {
  const values = query.map(({ name, value }) => [name, ...value.map(withinParameter).map(nameless)]);
  return JSON.stringify([path.map(nameless), values]);
}

/** A line break between characters, some of which are three long, such as `%2F`. */
function nameless(piece: Piece): boolean | string {
  return "name" in piece ? piece.spans : piece.text.join("\n");
}
