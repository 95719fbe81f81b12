import { escapeByte, readableText, decodePercent, type SentCharacter } from "./decode-percent.js";

/** A URI template (RFC 6570) of levels 1 and 2: text, `{variable}` and `{+variable}`. */
export interface UrlTemplate {
  parts: readonly TemplatePart[];
}

export type TemplatePart = LiteralPart | VariablePart;

export interface LiteralPart {
  literal: string;
}

export interface VariablePart {
  variable: string;
  /** `{+variable}`: reserved characters, `/` among them, stand for themselves. */
  reserved: boolean;
}

/** Why a text is not a template, as the end of a sentence that starts with the field's name. */
interface TemplateFault {
  fault: string;
}

export function decodeTemplate(text: string): UrlTemplate | TemplateFault {
  const parts: TemplatePart[] = [];
  let end = 0;
  for (const { 0: whole, 1: inside = "", index } of text.matchAll(/\{([^{}]*)\}/g)) {
    if (index > end) parts.push({ literal: text.slice(end, index) });
    const name = inside.replace(/^\+/, "");
    if (!VARIABLE.test(name)) return { fault: `can contain {name} and {+name}, but not ${whole}` };
    parts.push({ variable: name, reserved: name !== inside });
    end = index + whole.length;
  }
  if (end < text.length) parts.push({ literal: text.slice(end) });
  return faultOfLiterals(parts) ?? { parts };
}

/** `varname` of RFC 6570, 2.3. */
const VARIABLE = /^(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*$/;

export function variablesOf({ parts }: UrlTemplate): string[] {
  return parts.flatMap((part) => ("variable" in part ? [part.variable] : []));
}

/** Expands as RFC 6570, 3.2.2 and 3.2.3, says. A variable without a value expands to nothing. */
export function expandTemplate({ parts }: UrlTemplate, values: ReadonlyMap<string, string>): string {
  return parts.map((part) => expandPart(part, values)).join("");
}

function expandPart(part: TemplatePart, values: ReadonlyMap<string, string>): string {
  if ("literal" in part) return encodeReserved(part.literal);
  const value = values.get(part.variable) ?? "";
  return part.reserved ? encodeReserved(value) : encodeUnreserved(value);
}

/** Encodes everything but unreserved characters. */
function encodeUnreserved(text: string): string {
  return text.replace(/[^A-Za-z0-9\-._~]/gu, encodeCharacter);
}

/** Encodes everything but unreserved and reserved characters and existing percent-encoding. */
function encodeReserved(text: string): string {
  if (/^[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]*$/.test(text)) return text;
  return text.replace(/%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]/gu, (each) =>
    each.length === 3 ? each : encodeCharacter(each),
  );
}

/** A lone surrogate that stands for a byte becomes that byte; UTF-8 cannot encode any other. */
function encodeCharacter(character: string): string {
  if (!/\p{Surrogate}/u.test(character))
    return encodeURIComponent(character).replace(/[!'()*]/g, (each) => escapeByte(each.charCodeAt(0)));
  const readable = readableText(character);
  return readable === character ? encodeURIComponent("\ufffd") : readable;
}

/** RFC 6570, 2.1. The apostrophe is allowed, because the examples there use it. */
function faultOfLiterals(parts: readonly TemplatePart[]): TemplateFault | undefined {
  const text = parts.map((part) => ("literal" in part ? part.literal : "")).join("/");
  if (/[{}]/.test(text)) return { fault: "has a { or } that is not part of a variable" };
  const wrong = /[\0-\x20"<>\\^`|\x7f-\x9f]|\p{Surrogate}/u.exec(text);
  if (wrong !== null) return { fault: `must not contain ${JSON.stringify(wrong[0])}` };
  if (/%(?![0-9A-Fa-f]{2})/.test(text)) return { fault: "has a % that does not start a percent-encoding" };
  return undefined;
}

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
    return { fault: "must not have a variable or an empty string as a parameter name after ?" };
  if (new Set(names).size < names.length) return { fault: "must not repeat a parameter name after ?" };
  query.sort((a, b) => (a.name < b.name ? -1 : 1));
  return { path: piecesOf(path), query, variables: variablesOf(template) };
}

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
  if (/\/\//.test(path)) return "must not contain an empty segment";
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
  return twice === undefined ? undefined : `must not use the variable ${twice} twice`;
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

function piecesOf(text: string): Piece[] {
  const template = decodeTemplate(text);
  if ("fault" in template) return [];
  return template.parts.map((part) =>
    "variable" in part
      ? { name: part.variable, spans: part.reserved }
      : { text: decodePercent(part.literal).map(({ match }) => match) },
  );
}
