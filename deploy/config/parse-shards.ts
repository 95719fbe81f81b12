/** A shard of `CLICKHOUSE_SHARDS`: its name, and the URLs of its servers. */
export interface ListedShard {
  name: string;
  servers: string[];
}

/** The shards of `a: http://a1:8123 http://a2:8123; b: http://b1:8123`; a sentence part that names the fault otherwise. */
export function parseShards(text: string): ListedShard[] | string {
  const shards = text
    .split(";")
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map(parseShard);
  if (shards.length === 0) return "it names no shard";
  return faultOf(shards) ?? shards;
}

function parseShard(text: string): ListedShard {
  const [, name = "", servers = ""] = /^([A-Za-z0-9_-]{1,32})\s*:(?:\s+|$)([^]*)$/.exec(text) ?? [];
  return { name, servers: servers.split(/\s+/).filter((url) => url !== "") };
}

function faultOf(shards: readonly ListedShard[]): string | undefined {
  const nameless = shards.findIndex(({ name }) => name === "");
  if (nameless >= 0)
    return `shard ${nameless + 1} does not begin with a name of up to 32 letters, digits, hyphens and underscores, and a colon`;
  for (const { name, servers } of shards) {
    if (servers.length === 0) return `shard ${name} has no server`;
    const wrong = servers.findIndex((url) => !isServer(url));
    if (wrong >= 0)
      return `server ${wrong + 1} of shard ${name} is not an http:// or https:// URL of a host and a port alone`;
  }
  const name = repeated(shards.map((shard) => shard.name));
  if (name !== undefined) return `two shards have the name ${name}`;
  const server = repeated(shards.flatMap(({ servers }) => servers.map((url) => new URL(url).origin)));
  return server === undefined ? undefined : `the server ${server} is named twice`;
}

/** A password in it would be one more than that of CLICKHOUSE_URL. */
function isServer(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, origin, href } = new URL(url);
  return ["http:", "https:"].includes(protocol) && href === `${origin}/`;
}

function repeated(values: readonly string[]): string | undefined {
  return values.find((value, index) => values.indexOf(value) < index);
}
