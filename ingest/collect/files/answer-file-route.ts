import { decodePercent } from "../../routing/decode-percent.js";
import { findRoute, type FoundRoute } from "../../routing/find-route.js";
import { expandTemplate, type UrlTemplate } from "../../routing/url-template.js";
import {
  methodNotAllowed,
  NOTHING,
  type CollectAnswer,
  type CollectRequest,
  type LiveEvent,
} from "../collect-answer.js";
import type { FileSite, SiteRoute } from "../sites.js";
import { countObjects } from "./count-objects.js";

/** The most JSON objects in a body. Each is one event. */
const OBJECTS_MAX = 100;

/** Servers refuse longer URLs. A template may repeat a variable, and encoding makes three characters of one. */
const VALUES_LENGTH_MAX = 16 * 1024;

const TOO_MANY: CollectAnswer = { status: 413, headers: {}, events: [] };
const COLLECTED = { status: 200, headers: { "Cache-Control": "no-store" } };

/** Redirects to the file, or answers 200 when the route only collects. Each JSON object of the body is one event. */
export function answerFileRoute(request: CollectRequest, site: FileSite): CollectAnswer {
  const found = findRoute(site.routes, request.target);
  if (found === undefined) return NOTHING;
  const { method, body } = request;
  if (method !== "GET" && method !== "HEAD" && method !== "POST")
    return methodNotAllowed("GET", "HEAD", "POST");
  const count = method === "HEAD" ? 0 : countEvents(body);
  if (count > OBJECTS_MAX) return TOO_MANY;
  const events = new Array<LiveEvent>(count).fill(eventOf(site, found));
  const { outgoing, template } = found.route;
  if (outgoing === undefined) return { ...COLLECTED, events };
  if (lengthOfValues(outgoing, found) > VALUES_LENGTH_MAX) return NOTHING;
  const target = expanded(outgoing, found);
  if (hasDotDot(target) && !hasDotDot(expandTemplate(outgoing, placeholders(found)))) return NOTHING;
  const matched = new Set(template.query.map(({ name }) => name));
  const Location = withQuery(target, { query: request.query, matched });
  return { status: 307, headers: { Location }, events };
}

/** A body that is no sequence of JSON objects counts as one event. */
function countEvents(body: Buffer): number {
  return body.length === 0 ? 1 : Math.max(1, countObjects(body.toString()) ?? 1);
}

function eventOf({ packageId, ownerId }: FileSite, { variables }: FoundRoute<SiteRoute>): LiveEvent {
  return {
    ownerId,
    artifact: { kind: "package", id: packageId },
    version: variables.get("version"),
    platform: variables.get("platform"),
    variables,
  };
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

/** Adds the request's parameters that the route does not match and the target does not have, as they were sent. */
function withQuery(
  target: string,
  { query, matched }: { query: string; matched: ReadonlySet<string> },
): string {
  if (query === "") return target;
  const [, base = "", own, fragment = ""] = /^([^?#]*)(?:\?([^#]*))?(#.*)?$/.exec(target) ?? [];
  const ownNames = new Set(own === undefined ? [] : parametersOf(own).map(nameOf));
  const others = parametersOf(query).filter((parameter) => {
    const name = nameOf(parameter);
    return !matched.has(name) && !ownNames.has(name);
  });
  const all = [...(own ? [own] : []), ...others].join("&");
  return `${base}${all === "" ? "" : `?${all}`}${fragment}`;
}

function parametersOf(query: string): string[] {
  return query.split("&").filter((parameter) => parameter !== "");
}

function nameOf(parameter: string): string {
  const [name = ""] = parameter.split("=", 1);
  return decodePercent(name)
    .map(({ plain }) => plain)
    .join("");
}
