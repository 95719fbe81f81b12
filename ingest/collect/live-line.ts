import type { IncomingHttpHeaders } from "node:http";
import { HEADER_BYTES_MAX, NAME_BYTES_MAX, VARIABLE_BYTES_MAX } from "../../schemas/records/import-line.js";
import type { LiveEvent } from "./read-collect-request.js";

/** The fields that all events of one request share. */
export interface LiveSource {
  /** Milliseconds since the epoch. */
  time: number;
  /** The client's address, or empty. */
  address: string;
  host: string;
  headers: Pick<IncomingHttpHeaders, "user-agent" | "referer">;
}

/**
 * Formats an event as a line of an import that names its package or pixel, plus `$platform`, `$client`,
 * `$client_version` and `$sent`. Concatenates text, because a variable may have any name, even `__proto__`. Headers and
 * variables above the limits of import lines are not buffered: cut by characters, they are never shorter than what
 * enrichment keeps.
 */
export function liveLine(
  { artifact, version, platform, client, referrer, variables, sent = [] }: LiveEvent,
  { time, address, host, headers }: LiveSource,
): string {
  let line = `{"$time":${time},"$${artifact.kind}":"${artifact.id}"`;
  line += member("$remote_address", address);
  line += member("$user_agent", headers["user-agent"]?.slice(0, HEADER_BYTES_MAX));
  line += member("$referrer", (referrer ?? headers.referer)?.slice(0, HEADER_BYTES_MAX));
  line += member("$domain", shortEnough(host));
  line += member("$version", shortEnough(version));
  line += member("$platform", shortEnough(platform));
  line += member("$client", shortEnough(client?.name));
  line += member("$client_version", shortEnough(client?.version));
  // A variable must not set a `$` key.
  for (const [name, value] of variables)
    if (!name.startsWith("$") && value.length <= VARIABLE_BYTES_MAX) line += member(name, value);
  if (sent.length > 0) line += `,"$sent":[${sent.join(",")}]`;
  return `${line}}`;
}

function member(name: string, value: string | undefined): string {
  return value === undefined || value === "" ? "" : `,${JSON.stringify(name)}:${JSON.stringify(value)}`;
}

function shortEnough(text: string | undefined): string | undefined {
  return text !== undefined && Buffer.byteLength(text) <= NAME_BYTES_MAX ? text : undefined;
}
