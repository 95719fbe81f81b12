import { decodePercent, type SentCharacter } from "./decode-percent.js";
import { decodeTemplate, variablesOf, type TemplateFault, type UrlTemplate } from "./url-template.js";

/**
 * The requests that a route of a file package matches: a path, and query parameters that must all be present, in any
 * order, among others. The rules:
 *
 * - A variable has at least one character. In the path, `{v}` matches within one segment and `{+v}` may span several.
 *   In the query, both match up to the end of the parameter.
 * - Earlier variables are greedy: in `a-b-1`, `{name}-{version}` takes `a-b` as the name.
 * - An encoded character equals the plain one, except `%2F`, which is no separator. Case matters.
 * - The value of a variable is decoded, see `SentCharacter.plain`. In `{+v}`, encoded reserved characters stay encoded, so
 *   that expansion with `{+v}` restores the sent text.
 */
export interface RouteTemplate {
  path: readonly Piece[];
  /** Sorted by name, because their order does not matter. */
  query: readonly QueryParameter[];
  variables: readonly string[];
}

export interface QueryParameter {
  name: string;
  value: readonly Piece[];
}

export type Piece = Text | Variable;

export interface Text {
  /** Characters in their form for comparison, see `SentCharacter`. */
  text: readonly string[];
}

export interface Variable {
  name: string;
  /** May span several segments and keeps reserved characters encoded. */
  spans: boolean;
}

/** Decodes a `templatePath`. */
export function decodeRouteTemplate(text: string): RouteTemplate | TemplateFault {
  const template = decodeTemplate(text);
  if ("fault" in template) return template;
  const [path = "", ...behind] = text.split("?");
  // Clients do not send what follows #.
  if (text.includes("#")) return { fault: "must not contain #" };
  const fault = faultOfPath(path) ?? faultOfVariables(template);
  if (fault !== undefined) return { fault };
  if (behind.length === 0) return { path: piecesOf(path), query: [], variables: variablesOf(template) };
  const query = behind.join("?").split("&").map(queryParameter);
  const names = query.map(({ name }) => name);
  if (names.some((name) => name === "" || /[{}]/.test(name)))
    return { fault: "must not have a variable or an empty text as a parameter name after ?" };
  if (new Set(names).size < names.length) return { fault: "must not name a parameter after ? twice" };
  query.sort((a, b) => (a.name < b.name ? -1 : 1));
  return { path: piecesOf(path), query, variables: variablesOf(template) };
}

/** A request's path and query, parsed once for all routes. */
export interface RequestTarget {
  path: readonly SentCharacter[];
  query: ReadonlyMap<string, readonly SentCharacter[]>;
}

/** Parses a target such as `/data?measures=Population`. When a parameter is repeated, the first one counts. */
export function readRequestTarget(target: string): RequestTarget {
  const [whole = ""] = target.split("#", 1);
  const [path = "", ...behind] = whole.split("?");
  const query = new Map<string, readonly SentCharacter[]>();
  for (const parameter of behind.join("?").split("&")) {
    const { name, value } = splitParameter(parameter);
    if (parameter !== "" && !query.has(name)) query.set(name, decodePercent(value));
  }
  return { path: decodePercent(path), query };
}

function faultOfPath(path: string): string | undefined {
  if (!path.startsWith("/")) return "must begin with /";
  if (/\/\//.test(path)) return "must not have an empty segment in it";
  // Clients resolve these segments before they send a request.
  const dots = path.split("/").find((segment) => /^\.{1,2}$/.test(segment.replace(/%2e/gi, ".")));
  return dots === undefined ? undefined : `must not contain the segment ${dots}`;
}

function faultOfVariables(template: UrlTemplate): string | undefined {
  const { parts } = template;
  const adjacent = parts.findIndex((part, at) => "variable" in part && "variable" in (parts[at + 1] ?? {}));
  if (adjacent >= 0) return "must have text between two variables";
  const names = variablesOf(template);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  return twice === undefined ? undefined : `must not have the variable ${twice} twice`;
}

function queryParameter(parameter: string): QueryParameter {
  const { name, value } = splitParameter(parameter);
  return { name, value: piecesOf(value) };
}

function splitParameter(parameter: string): { name: string; value: string } {
  const [name = "", ...value] = parameter.split("=");
  const plain = decodePercent(name).map((character) => character.plain);
  return { name: plain.join(""), value: value.join("=") };
}

/** Parses a part of a template that was checked before. */
function piecesOf(text: string): Piece[] {
  const template = decodeTemplate(text);
  if ("fault" in template) return [];
  return template.parts.map((part) =>
    "variable" in part
      ? { name: part.variable, spans: part.reserved }
      : { text: decodePercent(part.literal).map(({ match }) => match) },
  );
}
