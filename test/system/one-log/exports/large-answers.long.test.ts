import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { createGunzip } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { pause } from "../../../../schemas/async/pause.js";
import { suiteServers } from "../../../support/shards/given-servers.js";
import { connectClickHouse } from "../../../../deploy/stores/clickhouse/connect-clickhouse.js";
import { makePackage } from "../../../support/imports/make-artifacts.js";
import { openAnswer } from "../../../support/api/management-world.js";
import { startServer } from "../../../support/collect/start-server.js";
import { api, toolchain, useToolchain } from "../../../support/program/use-toolchain.js";
import { pidsIn } from "../../../support/program/toolchain-process.js";

// More than all buffers between ClickHouse and a reader that stands still can hold, compressed or not: such a query runs
// until its reader goes on.
const EVENTS = 4_000;
const VARIABLES = 64;
/** Values that do not compress. */
const FILL = `
  INSERT INTO events (artifact, kind, library_type, time, unique_key, version, sign, type, variables)
  SELECT {artifact:UUID}, 'package', 'other', '2025-03-10 12:00:00', toString(number), number + 1, 1, 'file-download',
    mapFromArrays(arrayMap(each -> concat('variable-', toString(each)), range(${VARIABLES})),
      arrayMap(each -> base64Encode(randomString(120, number + each)), range(${VARIABLES})))
  FROM numbers(${EVENTS})`;
const MONTH = "startDate=2025-03-01&endDate=2025-04-01";

/** Queries and processes of servers that the program did not start are not found here; see test/cluster/. */
const ON_SERVERS = suiteServers() !== undefined;

/** A large answer: its path, its number of lines, and a condition that finds its query among others. */
interface LargeAnswer {
  path: string;
  lines: number;
  running: string;
}

let answers: Record<"aggregates" | "events", LargeAnswer>;

useToolchain({ organizations: ["acme"] });
beforeAll(async () => {
  const { id } = await makePackage(api, { organization: "acme", name: "large", libraryType: "other" });
  await using clickhouse = connectClickHouse(toolchain.clickhouseServers[0] ?? "");
  await clickhouse.command({ query: FILL, query_params: { artifact: id } });
  answers = {
    aggregates: {
      path: `/v1/organizations/acme/aggregates?${MONTH}&breakdown=variable`,
      lines: EVENTS * VARIABLES,
      running: "query LIKE 'WITH %SELECT concat(%unique_total%'",
    },
    events: {
      path: `/v1/packages/${id}/events/all.csv?${MONTH}`,
      lines: EVENTS + 1,
      running: "query LIKE 'WITH %package_name%FORMAT CSVWithNames%'",
    },
  };
});

/** Reads to the end; does `midway` after the first bytes, reading nothing meanwhile. */
async function readThrough(
  response: IncomingMessage,
  midway: () => Promise<void>,
  parts: Buffer[] = [],
): Promise<void> {
  let isFirst = true;
  for await (const part of response) {
    if (isFirst) await midway();
    isFirst = false;
    parts.push(part as Buffer);
  }
}

async function askClickHouse(query: string): Promise<string> {
  await using client = connectClickHouse(toolchain.endpoints.clickhouse ?? "");
  const rows = await client.query({ query, format: "TabSeparated" });
  return (await rows.text()).trim();
}

/** Fails the query that answers, once its first bytes are here; the command itself may wait for the query, which waits for the reader. */
async function failMidway(response: IncomingMessage, { running }: LargeAnswer): Promise<void> {
  let killing: Promise<string> | undefined;
  const killed = async () => {
    killing = askClickHouse(`KILL QUERY WHERE ${running} ASYNC`);
    // One that was not waiting for its reader just then is gone at once.
    const goingOn = `SELECT count() FROM system.processes WHERE ${running} AND NOT is_cancelled`;
    await expect.poll(() => askClickHouse(goingOn)).toBe("0");
  };
  try {
    return await readThrough(response, killed);
  } finally {
    await killing;
  }
}

async function countLines(stream: AsyncIterable<Buffer>): Promise<number> {
  let lines = 0;
  for await (const part of stream)
    for (let at = part.indexOf(NEWLINE); at >= 0; at = part.indexOf(NEWLINE, at + 1)) lines += 1;
  return lines;
}

const NEWLINE = 0x0a;

describe.each([
  ["aggregates", "gzip"],
  ["events", "zstd"],
] as const)("an answer of many megabytes of %s", (kind, packed) => {
  test("is the same whole however it is compressed, to a reader that stops in between", async () => {
    const { path, lines } = answers[kind];
    const seen = new Set<string>();
    for (const encoding of ["identity", packed]) {
      const name = encoding === "identity" ? "none" : encoding;
      const parts: Buffer[] = [];
      await readThrough(await openAnswer(api, path, encoding), () => pause(200), parts);
      await using file = await startServer((_, answer) => void answer.end(Buffer.concat(parts)));
      const from = `url('${file.url}', 'LineAsString', 'line String', '${name}')`;
      seen.add(await askClickHouse(`SELECT count(), sum(cityHash64(line)) FROM ${from}`));
    }
    expect([...seen]).toEqual([expect.stringMatching(new RegExp(`^${lines}\\t`))]);
  });

  test.skipIf(ON_SERVERS).each(["identity", packed])(
    "breaks the connection when its query fails midway, instead of ending cleanly (%s)",
    async (encoding) => {
      const response = await openAnswer(api, answers[kind].path, encoding);
      expect(response.statusCode).toBe(200);
      expect(response.headers["content-encoding"] ?? "identity").toBe(encoding);
      await expect(failMidway(response, answers[kind])).rejects.toMatchObject({ code: "ECONNRESET" });
    },
  );

  test.skipIf(ON_SERVERS)("stops its query when the reader leaves", async () => {
    const { path, running } = answers[kind];
    const response = await openAnswer(api, path, "identity");
    const countRunning = () => askClickHouse(`SELECT count() FROM system.processes WHERE ${running}`);
    const left = async () => {
      expect(await countRunning()).toBe("1");
      response.destroy(new Error("the reader left"));
    };
    await expect(readThrough(response, left)).rejects.toThrow("the reader left");
    await expect.poll(countRunning).toBe("0");
  });

  test.skipIf(ON_SERVERS || kind === "events")(
    "breaks the connection when ClickHouse dies midway, and is whole again when it is back",
    async () => {
      const { path, lines } = answers[kind];
      const response = await openAnswer(api, path, "identity");
      const servers = pidsIn(join(toolchain.dataDir, "clickhouse"));
      expect(servers).not.toEqual([]);
      const killed = async () => servers.forEach((pid) => process.kill(pid, "SIGKILL"));
      await expect(readThrough(response, killed)).rejects.toMatchObject({ code: "ECONNRESET" });
      const isReady = async () => (await fetch(`${toolchain.api}/readyz`)).status;
      await expect.poll(isReady).toBe(200);
      const again = await openAnswer(api, path, "gzip");
      expect(await countLines(again.pipe(createGunzip()))).toBe(lines);
    },
  );
});
