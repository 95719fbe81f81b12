import { Random } from "../../deploy/demo/random.js";
import type { KnownArtifact } from "./recount-line.js";

/** A line of an import, and the row of an export that it is to become. */
export interface HostileEvent {
  /** Without a line break at its end. */
  line: string;
  uniqueId: string;
  row: ExpectedRow;
}

/** What of a row the line alone decides. */
export interface ExpectedRow {
  type: string;
  package: string;
  version: string;
  time: string;
  referer: string;
  user_agent: string;
  variables: string;
  pixel: string;
}

export const EXPECTED_COLUMNS = [
  "type",
  "package",
  "version",
  "time",
  "referer",
  "user_agent",
  "variables",
  "pixel",
] as const satisfies (keyof ExpectedRow)[];

/** What breaks readers of CSV: quotes, separators, line breaks, NUL, halves of surrogate pairs, formulas, 4-byte characters. */
const PIECES = [
  '"',
  '""',
  ",",
  ";",
  "\n",
  "\r\n",
  "\r",
  "\0",
  "\ud800",
  "\udfff",
  "=1+1",
  "+1",
  "-1",
  "@SUM(A1)",
  "\t",
  "\\N",
  "\\",
  "'",
  " ",
  "𝄞🦀",
  "größte",
  "\u2028",
  "\ufeff",
  "%2C&=?#",
  "NULL",
  "__exception__\r\n",
];

export interface HostileOptions {
  seed: number;
  count: number;
  artifact: KnownArtifact;
  packageName: string;
  /** The first of three days, `YYYY-MM-DD`. */
  from: string;
  /** Events of other prefixes override nothing of these. */
  prefix?: string;
}

/** The same events every time for one seed; those of another seed override these, on other days and with other text. */
export function* hostileEvents(options: HostileOptions): Generator<HostileEvent> {
  const { seed, count, artifact, packageName, from, prefix = "event" } = options;
  const random = new Random(seed);
  const start = Date.parse(`${from}T00:00:00Z`);
  for (let index = 0; index < count; index += 1) {
    const time = new Date(start + random.below(3 * 86_400_000)).toISOString();
    const uniqueId = `${prefix}-${index}`;
    const type = random.chance(0.6) ? "file-download" : hostileText(random) || "image-pull";
    const [version, referer, userAgent, name, value] = Array.from({ length: 5 }, () => hostileText(random));
    const fields = {
      $time: time,
      $unique_id: uniqueId,
      $type: type,
      $version: version,
      $referrer: referer,
      $user_agent: userAgent,
      os: value,
      [`v${name}`]: "1",
    };
    const isFile = clean(type) === "file-download";
    const variables = `os=${encoded(value ?? "")}&${encoded(`v${name}`)}=1`;
    const row = {
      type: clean(type),
      package: packageName,
      version: clean(version ?? ""),
      time: time.replace("Z", "000Z"),
      referer: clean(referer ?? ""),
      user_agent: clean(userAgent ?? ""),
      variables: isFile ? variables : "",
      pixel: artifact.kind === "pixel" ? artifact.id : "",
    };
    yield { line: JSON.stringify({ ...fields, [`$${artifact.kind}`]: artifact.id }), uniqueId, row };
  }
}

function hostileText(random: Random): string {
  return Array.from({ length: random.below(4) }, () => random.pick(PIECES)).join("x");
}

/** As it is stored: one line of Unicode. */
function clean(text: string): string {
  return Buffer.from(text)
    .toString()
    .replaceAll(/[\r\n\0]/g, " ");
}

function encoded(text: string): string {
  const escape = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(clean(text)).replaceAll(/[!'()*]/g, escape);
}
