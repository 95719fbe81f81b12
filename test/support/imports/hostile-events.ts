import { Random } from "../../../deploy/demo/random.js";
import { openClients } from "../../../enrich/lookups/clients/open-clients.js";
import type { KnownArtifact } from "./recount-line.js";

/** A line of an import, and the row of an export that it is to become. */
export interface HostileEvent {
  /** Without a line break at its end. */
  line: string;
  uniqueId: string;
  row: ExpectedRow;
}

const PLACE_COLUMNS = [
  ...(["origin_latitude", "origin_longitude", "origin_country", "origin_city", "origin_postal"] as const),
  ...(["origin_company", "origin_domain", "origin_connection_type", "origin_state"] as const),
] as const;

/** All but the ids of the event, its origin and its endpoint, which nobody can tell beforehand. */
export const EXPECTED_COLUMNS = [
  ...(["type", "package", "version", "time", "referer", "user_agent", "variables", "pixel"] as const),
  ...PLACE_COLUMNS,
  ...(["platform", "client", "client_version", "automated"] as const),
] as const;

/** The columns of a row that the line alone decides. Degrees have three digits behind the point. */
export type ExpectedRow = Record<(typeof EXPECTED_COLUMNS)[number], string>;

/** Texts that break readers of CSV: quotes, separators, line breaks, NUL, halves of surrogate pairs, formulas, 4-byte characters. */
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

/** Addresses of events, and the bundled data's knowledge of them, in the order of the columns; it has no postal codes. */
const PLACES = [
  placeAt({}),
  placeAt({ $remote_address: "127.0.0.1" }),
  placeAt(
    { $remote_address: "141.113.0.20" },
    "48.776|9.183|DE|Stuttgart||Mercedes-Benz|mercedes-benz.com|business|Baden-Wurttemberg",
  ),
  placeAt({ $remote_address: "3.5.140.2" }, "37.475|126.631|KR|Incheon||||cloud provider|Incheon"),
  placeAt(
    { $remote_address: "2a00:1450:4001:80b::200e" },
    "50.111|8.682|DE|Frankfurt am Main||Google|google.com|business|Hesse",
  ),
];

function placeAt(fields: { $remote_address?: string }, known = "") {
  const values = known.split("|");
  const columns = PLACE_COLUMNS.map((name, index) => [name, values[index] ?? ""]);
  return { fields, known: Object.fromEntries(columns) as Record<(typeof PLACE_COLUMNS)[number], string> };
}

/** How many addresses the events come from. */
export const ADDRESSES = PLACES.length - 1;

const CLIENTS = openClients({ cacheBytesMax: 1_000_000 });

/** User agents of clients that are known. */
const AGENTS = [
  {
    agent: "docker/27.3.1 go/go1.22.7 os/linux arch/amd64",
    known: { platform: "Linux", client: "docker", client_version: "27.3.1", automated: "" },
  },
  { agent: "curl/8.9.1", known: { platform: "", client: "curl", client_version: "8.9.1", automated: "" } },
  {
    agent: "npm/10.8.2 node/v20.18.0 darwin arm64 workspaces/false ci/github-actions",
    known: { platform: "macOS", client: "npm", client_version: "10.8.2", automated: "ci" },
  },
];

export interface HostileOptions {
  seed: number;
  count: number;
  artifact: KnownArtifact;
  packageName: string;
  /** The first of three days, `YYYY-MM-DD`. */
  from: string;
}

/** The same events every time for one seed; those of another seed override these, on other days and with other text. */
export function* hostileEvents(options: HostileOptions): Generator<HostileEvent> {
  const { seed, count, artifact, packageName, from } = options;
  const random = new Random(seed);
  const start = Date.parse(`${from}T00:00:00Z`);
  for (let index = 0; index < count; index += 1) {
    const time = new Date(start + random.below(3 * 86_400_000)).toISOString();
    const uniqueId = `event-${index}`;
    const type = random.chance(0.6) ? "file-download" : hostileText(random) || "image-pull";
    const [version, referer, userAgent, name, value] = Array.from({ length: 5 }, () => hostileText(random));
    const place = random.pick(PLACES);
    const sender = random.chance(0.3) ? random.pick(AGENTS) : hostileSender(userAgent);
    const fields = {
      ...place.fields,
      $time: time,
      $unique_id: uniqueId,
      $type: type,
      $version: version,
      $referrer: referer,
      $user_agent: sender.agent,
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
      user_agent: clean(sender.agent),
      variables: isFile ? variables : "",
      pixel: artifact.kind === "pixel" ? artifact.id : "",
      ...place.known,
      ...sender.known,
    };
    yield { line: JSON.stringify({ ...fields, [`$${artifact.kind}`]: artifact.id }), uniqueId, row };
  }
}

/** How hostile names are understood is tested with the enrichment; here the result has to arrive. */
function hostileSender(agent = "") {
  const { platform, client, clientVersion, automated } = CLIENTS.of(clean(agent));
  return { agent, known: { platform, client, client_version: clientVersion, automated } };
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
