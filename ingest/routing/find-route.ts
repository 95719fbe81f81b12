import { matchRoute, MATCHING_WORK_MAX } from "../../schemas/routing/match-route.js";
import { readRequestTarget, type Piece, type RouteTemplate } from "../../schemas/routing/url-template.js";

export interface FoundRoute<Route> {
  route: Route;
  variables: ReadonlyMap<string, string>;
}

/**
 * Routes must be in the order of `compareRoutes`. Undefined after `MATCHING_WORK_MAX` comparisons, because
 * other requests wait during this time.
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

export function sortRoutes<Route extends { template: RouteTemplate }>(routes: readonly Route[]): Route[] {
  const ordered = routes.map((route) => ({ route, order: orderOf(route.template) }));
  return ordered.sort((a, b) => compareOrders(a.order, b.order)).map(({ route }) => route);
}

/**
 * Negative when `a` wins, zero when they conflict. The more literal path wins, segment by segment:
 * `/foo/latest` beats `/foo/{v}` beats `/{+path}`; then more text. After a variable that spans segments,
 * paths are compared from their end. Then the route with more query parameters wins.
 */
export function compareRoutes(a: RouteTemplate, b: RouteTemplate): number {
  return compareOrders(orderOf(a), orderOf(b));
}

/** Whether two routes match exactly the same requests, because they differ only in the names of variables. */
export function routesConflict(a: RouteTemplate, b: RouteTemplate): boolean {
  return keyOf(a) === keyOf(b);
}

/** Compared element by element; the smaller wins. When one list is the beginning of another, the longer wins. */
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

/** The rank of a segment; smaller is more literal. */
function rankOf(pieces: readonly Piece[]): number[] {
  const variables = pieces.filter((piece) => "name" in piece);
  const spanning = variables.filter((variable) => variable.spans).length;
  if (variables.length === 0) return [LITERAL];
  const characters = pieces.reduce((sum, piece) => sum + ("text" in piece ? piece.text.length : 0), 0);
  const kind = characters === 0 ? VARIABLE : PARTLY;
  return [spanning > 0 ? kind + VARIABLE : kind, -characters, spanning];
}

/** Makes both kinds of variable equal, because they match the same in the query. */
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
    const differing = one.findIndex((number, index) => number !== other[index]);
    if (differing >= 0) return (one[differing] ?? 0) - (other[differing] ?? 0);
  }
  return a.length - b.length === 0 ? 0 : 1;
}

function compare<Value>(a: Value, b: Value): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function keyOf({ path, query }: RouteTemplate): string {
  const values = query.map(({ name, value }) => [name, ...value.map(withinParameter).map(nameless)]);
  return JSON.stringify([path.map(nameless), values]);
}

/** Joins with line breaks, because some characters are three long, such as `%2F`. */
function nameless(piece: Piece): boolean | string {
  return "name" in piece ? piece.spans : piece.text.join("\n");
}
