import { createHash } from "node:crypto";
import { matchRoute } from "../../../ingest/routing/match-route.js";
import { readRequestTarget, type RouteTemplate } from "../../../ingest/routing/url-template.js";
import type { LoggedRequest } from "./logged-request.js";

/**
 * The import line of a download: a GET that was answered with 2xx or 3xx and whose target the pattern matches, if there
 * is one. The pattern's variables become the event's; without a pattern the path is its `file`. Undefined for all else.
 */
export function eventOf(request: LoggedRequest, pattern?: RouteTemplate): Record<string, string> | undefined {
  const { time, address, userAgent, referrer, method, target, status } = request;
  if (method !== "GET" || status < 200 || status > 399) return undefined;
  const variables = pattern === undefined ? fileOf(target) : variablesOf(pattern, target);
  if (variables === undefined) return undefined;
  const { version = "" } = variables;
  return filled({
    ...variables,
    $time: time,
    $remote_address: address,
    $user_agent: userAgent,
    $referrer: referrer,
    $version: version,
  });
}

/**
 * The id of the event of a line, from its text and its number in the file: the same log sent again has the same ids,
 * and equal lines have different ones.
 */
export function idOf(line: string, number: number): string {
  return createHash("sha256").update(`${number}\n${line}`).digest("hex").slice(0, ID_DIGITS);
}

const ID_DIGITS = 32;

function fileOf(target: string): Record<string, string> {
  return { file: target.split(/[?#]/, 1)[0] ?? "" };
}

function variablesOf(pattern: RouteTemplate, target: string): Record<string, string> | undefined {
  const variables = matchRoute(pattern, readRequestTarget(target));
  return variables === undefined ? undefined : Object.fromEntries(variables);
}

function filled(fields: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).filter(([, text]) => text !== ""));
}
