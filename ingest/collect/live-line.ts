import type { IncomingHttpHeaders } from "node:http";
import type { LiveEvent } from "./collect-answer.js";

/** What a request says of every event that it causes. */
export interface LiveSource {
  /** Milliseconds since the epoch. */
  time: number;
  /** The client's address, or empty. */
  address: string;
  host: string;
  headers: Pick<IncomingHttpHeaders, "user-agent" | "referer">;
}

/** Longer ones would have the whole event refused. The variable of that name may be longer. */
const NAME_BYTES_MAX = 256;

/** Enrichment keeps no more bytes of a header than this, and no variable that is longer: a line is not held for those. */
const HEADER_LENGTH_MAX = 2048;
const VARIABLE_LENGTH_MAX = 1024;

/**
 * An event as a line of a chunk: that of an import, naming its package or pixel, with `$platform` beside. Written by
 * hand, as a variable may have any name.
 */
export function liveLine(
  { artifact, version, platform, referrer, variables }: LiveEvent,
  { time, address, host, headers }: LiveSource,
): string {
  let line = `{"$time":${time},"$${artifact.kind}":"${artifact.id}"`;
  line += member("$remote_address", address);
  line += member("$user_agent", headers["user-agent"]?.slice(0, HEADER_LENGTH_MAX));
  line += member("$referrer", (referrer ?? headers.referer)?.slice(0, HEADER_LENGTH_MAX));
  line += member("$domain", shortEnough(host));
  line += member("$version", shortEnough(version));
  line += member("$platform", shortEnough(platform));
  // Of keys that begin so only those above may be there.
  for (const [name, value] of variables)
    if (!name.startsWith("$") && value.length <= VARIABLE_LENGTH_MAX) line += member(name, value);
  return `${line}}`;
}

function member(name: string, value: string | undefined): string {
  return value === undefined || value === "" ? "" : `,${JSON.stringify(name)}:${JSON.stringify(value)}`;
}

function shortEnough(text: string | undefined): string | undefined {
  return text !== undefined && Buffer.byteLength(text) <= NAME_BYTES_MAX ? text : undefined;
}
