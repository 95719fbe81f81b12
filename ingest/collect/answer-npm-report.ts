import {
  methodNotAllowed,
  type CollectAnswer,
  type CollectRequest,
  type LiveEvent,
} from "./read-collect-request.js";
import type { NpmPackages } from "./sites.js";

export const NPM_REPORT_PATH = "/package-event/install";

/**
 * A library's install script posts it. A report of an unknown package is accepted without an event, so that
 * no install fails.
 */
export function answerNpmReport({ method, body }: CollectRequest, packages: NpmPackages): CollectAnswer {
  if (method !== "POST") return methodNotAllowed("POST");
  const report = decodeReport(body);
  if (report === NOT_JSON) return { status: 422, headers: {}, events: [] };
  return {
    status: 200,
    headers: { "Content-Type": "application/json" },
    events: eventsOf(report, packages),
  };
}

const NOT_JSON = Symbol("not JSON");

function decodeReport(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return NOT_JSON;
  }
}

function eventsOf(report: unknown, packages: NpmPackages): LiveEvent[] {
  const parent = field(field(report, "dependencyInfo"), "parent");
  const [owned] = packages.of(textOf(parent, "name") ?? "");
  if (owned === undefined) return [];
  return [
    {
      ownerId: owned.ownerId,
      artifact: { kind: "package", id: owned.packageId },
      version: textOf(parent, "version"),
      platform: textOf(report, "rawPlatform"),
      client: clientOf(report),
      variables: new Map(),
    },
  ];
}

/** Reports of newer install scripts say which Node they ran on (`nodeVersion`). */
function clientOf(report: unknown): LiveEvent["client"] {
  const node = textOf(report, "nodeVersion");
  return node === undefined
    ? { name: "npm", version: textOf(report, "npmVersion") }
    : { name: "node", version: node };
}

function textOf(value: unknown, name: string): string | undefined {
  const text = field(value, name);
  return typeof text === "string" && text !== "" ? text.slice(0, TEXT_LENGTH_MAX) : undefined;
}

/** npm's own limit is 214 for a name and 256 for a version. */
const TEXT_LENGTH_MAX = 256;

function field(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}
