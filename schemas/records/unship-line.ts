/**
 * The line of a log without what shippers and terminals put around it, in layers: JSON of Docker and journald, and the
 * prefixes below. The text itself where there is none. Undefined for a part of a line, which CRI marks with P and Docker by
 * a missing line end.
 */
export function unshipLine(text: string): string | undefined {
  let line: string | undefined = text;
  for (let layers = 0; layers < LAYERS_MAX && line !== undefined; layers++) {
    const inside: string | undefined = line.startsWith("{") ? unpackedLine(line) : withoutPrefix(line);
    if (inside === line) return line;
    line = inside;
  }
  return line;
}

const LAYERS_MAX = 8;

/** The prefixes of a line, without its JSON. */
function withoutPrefix(line: string): string | undefined {
  if (PART.test(line)) return undefined;
  const found = PREFIXES.find((prefix) => prefix.test(line));
  return found === undefined ? line : line.replace(found, "");
}

const ZONED = String.raw`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)`;
const HOST_AND_TAG = String.raw`(?:[^\s:\[]+ )?[\w./-]+(?:\[\d+\])?: `;
const COLOR = String.raw`(?:\u001b\[[\d;]*m)*`;

const PREFIXES: readonly RegExp[] = [
  // docker compose logs: `nginx-1  | `
  new RegExp(String.raw`^${COLOR}[\w.-]+${COLOR}\s+\| ?${COLOR}`),
  // Container Runtime Interface, Kubernetes' files: `2026-11-10T08:00:00.1Z stdout F `
  new RegExp(String.raw`^${ZONED} std(?:out|err) F `),
  // RFC 5424, also with the length of RFC 6587: `<190>1 2026-11-10T08:00:00Z web1 nginx 12 - - `
  /^(?:\d+ )?<\d{1,3}>1 \S+ \S+ \S+ \S+ \S+ (?:-|(?:\[(?:[^\]\\"]|\\.|"(?:[^"\\]|\\.)*")*\])+) ?\ufeff?/,
  // RFC 3164, with its priority or as files and `journalctl` have it: `<190>Nov 10 08:00:00 web1 nginx[12]: `
  new RegExp(
    String.raw`^(?:\d+ )?(?:<\d{1,3}>)?[A-Z][a-z]{2} [ \d]\d (?:\d{4} )?\d\d:\d\d:\d\d(?:\.\d+)? ${HOST_AND_TAG}`,
  ),
  // The same with the time of RFC 3339, as rsyslog and `journalctl -o short-iso` write it
  new RegExp(String.raw`^(?:<\d{1,3}>)?${ZONED} ${HOST_AND_TAG}`),
  // `docker logs --timestamps`, `kubectl logs --timestamps`
  new RegExp(String.raw`^${ZONED} `),
  // `kubectl logs --prefix`: `[pod/web-1/nginx] `
  /^\[pod\/[^\]]+\] /,
];

const PART = new RegExp(String.raw`^${ZONED} std(?:out|err) P `);

/** `{"log":"...\n","stream":"stdout","time":"..."}` of Docker, and the MESSAGE of journald. */
function unpackedLine(json: string): string | undefined {
  const entry = parsed(json);
  if (typeof entry?.log === "string" && typeof entry.stream === "string")
    return entry.log.endsWith("\n") ? entry.log.replace(/\r?\n$/, "") : undefined;
  return typeof entry?.MESSAGE === "string" ? entry.MESSAGE : json;
}

function parsed(json: string): Partial<Record<"log" | "stream" | "MESSAGE", unknown>> | undefined {
  try {
    return JSON.parse(json) as Partial<Record<string, unknown>>;
  } catch {
    return undefined;
  }
}
