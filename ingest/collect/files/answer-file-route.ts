import { readableText, decodePercent } from "../../../schemas/routing/decode-percent.js";
import { findRoute, type FoundRoute } from "../../routing/find-route.js";
import { asksForSidecar, namesSidecar } from "../../../schemas/routing/sidecar-files.js";
import { expandTemplate, type UrlTemplate } from "../../../schemas/routing/url-template.js";
import {
  methodNotAllowed,
  NOTHING,
  skipsBeginning,
  type CollectAnswer,
  type CollectRequest,
  type LiveEvent,
} from "../read-collect-request.js";
import type { FileSite, SiteRoute } from "../sites.js";
import { readObjects } from "./read-objects.js";
import { VARIABLE_BYTES_MAX, VARIABLES_MAX } from "../../../schemas/records/import-line.js";

/** The most JSON objects in a body. Each is one event. */
const OBJECTS_MAX = 100;
/** Every event of a body repeats the query and headers of its request, which have up to 16 KiB. */
const REPEATED_LENGTH_MAX = 128 * 1024;

/** Servers refuse longer URLs. A template may repeat a variable, and encoding makes three characters of one. */
const VALUES_LENGTH_MAX = 16 * 1024;

const TOO_MANY: CollectAnswer = { status: 413, headers: {}, events: [] };
const COLLECTED = { status: 200, headers: { "Cache-Control": "no-store" } };

/**
 * Redirects to the file, or answers 200 when the route only collects. Each JSON object of the body is one
 * event. A route that only collects keeps the object's keys, and each the other query parameters.
 */
export function answerFileRoute(request: CollectRequest, site: FileSite): CollectAnswer {
  const found = findRoute(site.routes, request.target);
  if (found === undefined) return NOTHING;
  const { method, body } = request;
  if (method !== "GET" && method !== "HEAD" && method !== "POST")
    return methodNotAllowed("GET", "HEAD", "POST");
  const isDownload = method !== "GET" || (!skipsBeginning(request) && !isSidecar(request, found));
  const objects = method === "HEAD" || !isDownload ? [] : objectsOf(body);
  if (objects.length > OBJECTS_MAX || lengthRepeated(request, objects) > REPEATED_LENGTH_MAX) return TOO_MANY;
  const { outgoing } = found.route;
  const others = otherParameters(request, found);
  if (outgoing === undefined) {
    const query = sentParameters(others, found.variables);
    return { ...COLLECTED, events: objects.map((object) => eventOf(site, found, [query, object])) };
  }
  if (lengthOfValues(outgoing, found) > VALUES_LENGTH_MAX) return NOTHING;
  const target = expanded(outgoing, found);
  if (hasDotDot(target) && !hasDotDot(expandTemplate(outgoing, placeholders(found)))) return NOTHING;
  const handedOn = withoutOwn(target, others);
  // Enrichment would read a name with $ as one of its own keys. Only what is sent to collect may have those.
  const variables = handedOn.filter(({ name }) => !name.startsWith("$"));
  const event = eventOf(site, found, [sentParameters(variables, found.variables)]);
  return {
    status: 307,
    headers: { Location: withQuery(target, handedOn) },
    events: objects.map(() => event),
  };
}

/** A sidecar that the route's owner does not name is served and not counted. */
function isSidecar({ target }: CollectRequest, { route, variables }: FoundRoute<SiteRoute>): boolean {
  return asksForSidecar(target, variables) && !namesSidecar(route.template);
}

function lengthRepeated({ target, headers }: CollectRequest, objects: readonly string[]): number {
  const { "user-agent": agent = "", referer = "" } = headers;
  return (objects.length - 1) * (target.length + agent.length + referer.length);
}

const NO_OBJECT = [""];

/** Empty for the one event of a body that is no sequence of JSON objects. */
function objectsOf(body: Buffer): readonly string[] {
  const objects = body.length === 0 ? undefined : readObjects(body.toString(), OBJECTS_MAX);
  return objects === undefined || objects.length === 0 ? NO_OBJECT : objects;
}

function eventOf(
  { packageId, ownerId }: FileSite,
  { variables }: FoundRoute<SiteRoute>,
  sent: readonly string[],
): LiveEvent {
  const artifact = { kind: "package", id: packageId } as const;
  const readable = new Map([...variables].map(([name, value]) => [name, readableText(value)]));
  return { ownerId, artifact, variables: readable, sent: sent.filter((object) => object !== "") };
}

function otherParameters({ query }: CollectRequest, { route }: FoundRoute<SiteRoute>): QueryParameter[] {
  if (query === "") return [];
  const matched = new Set(route.template.query.map(({ name }) => name));
  return parametersOf(query).filter(({ name }) => !matched.has(name));
}

function lengthOfValues({ parts }: UrlTemplate, { variables }: FoundRoute<SiteRoute>): number {
  const lengths = parts.map((part) => ("variable" in part ? (variables.get(part.variable)?.length ?? 0) : 0));
  return lengths.reduce((sum, length) => sum + length, 0);
}

function expanded(outgoing: UrlTemplate, { variables }: FoundRoute<SiteRoute>): string {
  return expandTemplate(outgoing, variables);
}

/** Clients resolve `..` before they follow a redirect, so a variable must not contain one. */
function hasDotDot(target: string): boolean {
  return /\/(?:\.|%2e){2}(?:\/|$)/i.test(target.replace(/[?#].*$/s, ""));
}

/** Values without `..`, to allow those that the owner's template itself contains. */
function placeholders({ variables }: FoundRoute<SiteRoute>): ReadonlyMap<string, string> {
  return new Map([...variables.keys()].map((name) => [name, "x"]));
}

const TARGET = /^([^?#]*)(?:\?([^#]*))?(#.*)?$/;

function withoutOwn(target: string, parameters: readonly QueryParameter[]): readonly QueryParameter[] {
  if (parameters.length === 0) return parameters;
  const [, , own = ""] = TARGET.exec(target) ?? [];
  const ownNames = new Set(parametersOf(own).map(({ name }) => name));
  return parameters.filter(({ name }) => !ownNames.has(name));
}

function withQuery(target: string, parameters: readonly QueryParameter[]): string {
  if (parameters.length === 0) return target;
  const [, base = "", own, fragment = ""] = TARGET.exec(target) ?? [];
  const all = [...(own ? [own] : []), ...parameters.map(({ text }) => text)].join("&");
  return `${base}?${all}${fragment}`;
}

interface QueryParameter {
  /** As it was sent. */
  text: string;
  name: string;
}

function parametersOf(query: string): QueryParameter[] {
  return query
    .split("&")
    .filter((text) => text !== "")
    .map((text) => ({ text, name: decoded(text.split("=", 1)[0] ?? "") }));
}

/**
 * As a JSON object, decoded as forms are: `+` is a space there. Of equal names the first counts. Leaves out
 * those in `known`, and those that enrichment would: more than 64, or of over 1 KiB.
 */
function sentParameters(parameters: readonly QueryParameter[], known: ReadonlyMap<string, unknown>): string {
  const sent = new Map<string, string>();
  for (const { text } of parameters) {
    if (sent.size === VARIABLES_MAX) break;
    const [name = "", ...rest] = text.replaceAll("+", " ").split("=").map(decoded);
    const value = rest.join("=");
    if (known.has(name) || sent.has(name)) continue;
    if (name.length <= VARIABLE_BYTES_MAX && value.length <= VARIABLE_BYTES_MAX) sent.set(name, value);
  }
  return sent.size === 0 ? "" : JSON.stringify(Object.fromEntries(sent));
}

function decoded(text: string): string {
  if (!text.includes("%")) return text;
  const plain = decodePercent(text).map((character) => character.plain);
  return readableText(plain.join(""));
}
