import { createCipheriv } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { createGunzip } from "node:zlib";
import { createClient } from "@clickhouse/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ApiClient } from "../../deploy/demo/api-client.js";
import { makeOrganization, makePackage } from "../support/make-artifacts.js";
import { openAnswer, textOf } from "../support/open-answer.js";
import { startServer } from "../support/start-server.js";
import { startToolchain, type Toolchain } from "../support/start-toolchain.js";
import { pidsIn } from "../support/toolchain-process.js";

// More than the connections between ClickHouse, the service and a reader that stands still can hold.
const EVENTS = 4_000;
const VARIABLES = 64;
const NOTHING = Buffer.alloc(120);

let toolchain: Toolchain;
let api: ApiClient;
let large: string;
/** The same events, one by one. */
let largeEvents: string;

beforeAll(async () => {
  toolchain = await startToolchain();
  api = await toolchain.newAccount("ada");
  const organization = await makeOrganization(api, "acme");
  await toolchain.admin("grant-export", organization);
  const { id } = await makePackage(api, { organization, name: "large", libraryType: "other" });
  const started = await api.importBody(`/v2/packages/acme/${id}/import`, largeBody(), { gzip: true });
  await api.pollToDone(started);
  large = `/v1/organizations/acme/aggregates?startDate=2025-03-01&endDate=2025-04-01&breakdown=variable`;
  largeEvents = `/v1/packages/${id}/events/all.csv?startDate=2025-03-01&endDate=2025-04-01`;
});

afterAll(() => toolchain?.close());

/** Values that do not compress, the same every time. */
function* largeBody(): Generator<Buffer> {
  const noise = createCipheriv("aes-128-ctr", Buffer.alloc(16), Buffer.alloc(16));
  for (let event = 0; event < EVENTS; event += 1) {
    const variables = Array.from({ length: VARIABLES }, (_, index) => {
      const value = noise.update(NOTHING).toString("base64url");
      return `"variable-${index}":"${value}"`;
    });
    yield Buffer.from(`{"$time":"2025-03-10T12:00:00Z",${variables.join(",")}}\n`);
  }
}

/** Reads to the end; does `midway` after the first bytes, reading nothing meanwhile. */
async function readThrough(response: IncomingMessage, midway: () => Promise<void>): Promise<number> {
  let bytes = 0;
  for await (const part of response) {
    if (bytes === 0) await midway();
    bytes += (part as Buffer).length;
  }
  return bytes;
}

async function askClickHouse(query: string): Promise<string> {
  const { origin, username, password } = new URL(toolchain.endpoints.clickhouse ?? "");
  await using client = createClient({ url: origin, username, password });
  const rows = await client.query({ query, format: "TabSeparated" });
  return (await rows.text()).trim();
}

const RUNNING = "query LIKE 'WITH %SELECT concat(%unique_total%'";

/** Fails the query that answers, once its first bytes are here; the command itself may wait for the query, which waits for the reader. */
async function failMidway(response: IncomingMessage): Promise<number> {
  let killing: Promise<string> | undefined;
  const killed = async () => {
    killing = askClickHouse(`KILL QUERY WHERE ${RUNNING} ASYNC`);
    const isCancelled = `SELECT is_cancelled FROM system.processes WHERE ${RUNNING}`;
    await expect.poll(() => askClickHouse(isCancelled), { timeout: 20_000 }).toBe("1");
  };
  try {
    return await readThrough(response, killed);
  } finally {
    await killing;
  }
}

async function countLines(stream: AsyncIterable<Buffer>): Promise<number> {
  return (await textOf(stream)).split("\n").length - 1;
}

describe("an answer of many megabytes", () => {
  test("comes whole", async () => {
    const response = await openAnswer(api, large, "identity");
    expect(await countLines(response)).toBe(EVENTS * VARIABLES);
  });

  // What ClickHouse compresses with zstd fits into the buffers in between: such a query is through before it is killed.
  test.each(["identity", "gzip"])(
    "breaks the connection when its query fails midway, instead of ending cleanly (%s)",
    async (encoding) => {
      const response = await openAnswer(api, large, encoding);
      expect(response.statusCode).toBe(200);
      await expect(failMidway(response)).rejects.toMatchObject({ code: "ECONNRESET" });
    },
  );

  test("is whole when ClickHouse reads what it has compressed with zstd", async () => {
    const response = await openAnswer(api, largeEvents, "zstd");
    expect(response.headers["content-encoding"]).toBe("zstd");
    const compressed = await buffer(response);
    await using file = await startServer((_, answer) => void answer.end(compressed));
    const lines = `url('${file.url}', 'CSVWithNames', 'type String, variables String', 'zstd')`;
    const read = `SELECT count(), uniqExact(variables) FROM ${lines} SETTINGS input_format_skip_unknown_fields = 1`;
    expect(await askClickHouse(read)).toBe(`${EVENTS}\t${EVENTS}`);
  });

  test("stops its query when the reader leaves", async () => {
    const response = await openAnswer(api, large, "identity");
    const running = () => askClickHouse(`SELECT count() FROM system.processes WHERE ${RUNNING}`);
    const left = async () => {
      expect(await running()).toBe("1");
      response.destroy(new Error("the reader left"));
    };
    await expect(readThrough(response, left)).rejects.toThrow("the reader left");
    await expect.poll(running, { timeout: 20_000 }).toBe("0");
  });

  test("breaks the connection when ClickHouse dies midway, and is whole again when it is back", async () => {
    const response = await openAnswer(api, large, "identity");
    const [server = 0] = pidsIn(join(toolchain.dataDir, "clickhouse"));
    const killed = async () => void process.kill(server, "SIGKILL");
    await expect(readThrough(response, killed)).rejects.toMatchObject({ code: "ECONNRESET" });
    const isReady = async () => (await fetch(`${toolchain.api}/readyz`)).status;
    await expect.poll(isReady, { timeout: 30_000 }).toBe(200);
    const again = await openAnswer(api, large, "gzip");
    expect(await countLines(again.pipe(createGunzip()))).toBe(EVENTS * VARIABLES);
  });
});
