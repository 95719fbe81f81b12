import { decodePercent, type SentCharacter } from "./decode-percent.js";
import { decodeTemplate, variablesOf, type TemplateFault, type UrlTemplate } from "./url-template.js";

/**
 * Which requests a route of a file package takes: a path, and a query of which each parameter must be there, in any
 * order, among others. The rules of matching:
 *
 * - A variable holds one character at least. In the path, `{v}` stays within one segment, `{+v}` may span several; in
 *   the query both reach to the end of the parameter.
 * - Where there is a choice, the earlier variable takes as much as it can: of `a-b-1`, `{name}-{version}` takes `a-b`.
 * - An encoded character is the same as the plain one, except `%2F`, which separates nothing. Case matters.
 * - A variable's value is decoded; in that of `{+v}` reserved characters that were encoded stay so, and expansion
 *   with `{+v}` gives back what was sent.
 */
export interface RouteTemplate {
  path: readonly Piece[];
  /** By name; sorted, as their order means nothing. */
  query: readonly QueryParameter[];
  variables: readonly string[];
}

export interface QueryParameter {
  name: string;
  value: readonly Piece[];
}

export type Piece = Text | Variable;

export interface Text {
  /** Characters as they are compared, see `SentCharacter`. */
  text: readonly string[];
}

export interface Variable {
  name: string;
  /** May span several segments, and keeps encoded what is reserved. */
  spans: boolean;
}

/** Decodes a `templatePath`. */
export function decodeRouteTemplate(text: string): RouteTemplate | TemplateFault {
  const template = decodeTemplate(text);
  if ("fault" in template) return template;
  const [path = "", ...behind] = text.split("?");
  const fault = faultOfPath(path) ?? faultOfVariables(template);
  if (fault !== undefined) return { fault };
  if (behind.length === 0) return { path: piecesOf(path), query: [], variables: variablesOf(template) };
  const query = behind.join("?").split("&").map(queryParameter);
  const names = query.map(({ name }) => name);
  if (names.some((name) => name === "" || /[{}]/.test(name)))
    return { fault: "must name each parameter behind ? without variables" };
  if (new Set(names).size < names.length) return { fault: "must not name a parameter behind ? twice" };
  query.sort((a, b) => (a.name < b.name ? -1 : 1));
  return { path: piecesOf(path), query, variables: variablesOf(template) };
}

/** A request's path and query, taken apart once for all routes. */
export interface RequestTarget {
  path: readonly SentCharacter[];
  query: ReadonlyMap<string, readonly SentCharacter[]>;
}

/** Of an origin-form target such as `/data?measures=Population`; of a parameter that comes twice, the first counts. */
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
  if (path.includes("#")) return "must not contain #";
  if (/\/\//.test(path)) return "must not have an empty segment in it";
  // Clients resolve these before they send anything.
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

/** Of a part of a template that was found sound. */
function piecesOf(text: string): Piece[] {
  const template = decodeTemplate(text);
  if ("fault" in template) return [];
  return template.parts.map((part) =>
    "variable" in part
      ? { name: part.variable, spans: part.reserved }
      : { text: decodePercent(part.literal).map(({ match }) => match) },
  );
}
