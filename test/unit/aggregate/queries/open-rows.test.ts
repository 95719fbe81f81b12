import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openRows, type ResultSource } from "../../../../aggregate/queries/open-rows.js";
import { textLiteral, uuidsLiteral } from "../../../../aggregate/queries/sql-literals.js";
import { readQuery } from "../../../../aggregate/read-query.js";
import { testTable } from "../../../support/test-table.js";

const TAG = "abcdefghijklmnop";
const FAILURE = `\r\n__exception__\r\n${TAG}\r\nCode: 241. DB::Exception: memory limit exceeded\r\n46 ${TAG}\r\n__exception__\r\n`;
const { signal } = new AbortController();
const query = { query: "SELECT 1", params: { start: "2026-08-01" }, signal };

/** A ClickHouse that answers with these parts and headers; each part is overwritten once the next is asked for. */
function fakeClickHouse(
  parts: Iterable<Buffer>,
  headers: Record<string, string> = { "x-clickhouse-exception-tag": TAG },
) {
  const asked: unknown[] = [];
  const told = { closed: false };
  const close = () => (told.closed = true);
  async function* overwriting() {
    try {
      for (const part of parts) {
        const bytes = Buffer.from(part);
        yield bytes;
        bytes.fill("_");
      }
    } finally {
      close();
    }
  }
  const clickhouse: ResultSource = {
    async exec(params) {
      asked.push(params);
      return { stream: Object.assign(overwriting(), { destroy: close }), response_headers: headers };
    },
  };
  return { clickhouse, asked, told };
}

async function readAll(clickhouse: ResultSource): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of await openRows(clickhouse, query)) parts.push(Buffer.from(part));
  return Buffer.concat(parts).toString();
}

/** Splits bytes at these places, in parts of at least one byte. */
function split(text: string, places: readonly number[]): Buffer[] {
  const bytes = Buffer.from(text);
  const ends = [...new Set([...places.map((place) => place % bytes.length), bytes.length])].sort(
    (a, b) => a - b,
  );
  return ends
    .map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
    .filter(({ length }) => length > 0);
}

const places = fc.array(fc.nat(), { maxLength: 30 });

describe("openRows", () => {
  test("hands a result through as it is, however it was split", async () => {
    const text = fc.stringMatching(/^([a-z\n]|\r\n__exception__\r\n|__exception|abcdefgh){1,60}$/);
    await fc.assert(
      fc.asyncProperty(text, places, async (result, at) => {
        expect(await readAll(fakeClickHouse(split(result, at)).clickhouse)).toBe(result);
      }),
    );
  });

  test("throws at a failure midway, however it was split", async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom("", "row\n".repeat(50)), places, async (rows, at) => {
        const { clickhouse } = fakeClickHouse(split(rows + FAILURE, at));
        await expect(readAll(clickhouse)).rejects.toThrow("ClickHouse failed midway");
      }),
    );
  });

  test("hands on the rows before a failure and nothing of the failure", async () => {
    const { clickhouse } = fakeClickHouse(split("row\n".repeat(50) + FAILURE, [100, 210, 215, 220]));
    let read = "";
    const reading = async () => {
      for await (const part of await openRows(clickhouse, query)) read += part.toString();
    };
    await expect(reading()).rejects.toThrow();
    expect("row\n".repeat(50) + "\r\n").toContain(read);
  });

  test("takes another answer's tag for text", async () => {
    const text = FAILURE.replaceAll(TAG, "ponmlkjihgfedcba");
    expect(await readAll(fakeClickHouse([Buffer.from(text)]).clickhouse)).toBe(text);
  });

  test("hands through the result of a ClickHouse that sends no tag", async () => {
    expect(await readAll(fakeClickHouse([Buffer.from("a\nb\n")], {}).clickhouse)).toBe("a\nb\n");
  });

  test("rejects an answer that carries an exception", async () => {
    const { clickhouse } = fakeClickHouse([], { "x-clickhouse-exception-code": "241" });
    await expect(openRows(clickhouse, query)).rejects.toThrow("exception 241");
  });

  test("lets a failure show in the stream, and the query end with its reader", async () => {
    const { clickhouse, asked } = fakeClickHouse([]);
    await openRows(clickhouse, query);
    expect(asked).toEqual([
      expect.objectContaining({
        query: "SELECT 1",
        query_params: { start: "2026-08-01" },
        abort_signal: signal,
        clickhouse_settings: expect.objectContaining({
          http_write_exception_in_output_format: 0,
          cancel_http_readonly_queries_on_client_close: 1,
        }) as object,
      }),
    ]);
  });

  test("closes the result of a reader that stops early", async () => {
    const { clickhouse, told } = fakeClickHouse(Array.from({ length: 100 }, () => Buffer.alloc(1000, "x")));
    for await (const part of await openRows(clickhouse, query)) {
      expect(part.length).toBeGreaterThan(0);
      break;
    }
    expect(told.closed).toBe(true);
  });
});

const ID = "01a1fbad-ca48-70ed-9525-6dc0dcdf7c27";

testTable("UUIDs %j are %s", uuidsLiteral, [
  [[], "CAST([] AS Array(UUID))"],
  [[ID], `CAST(['${ID}'] AS Array(UUID))`],
  [[ID, ID.toUpperCase()], `CAST(['${ID}','${ID.toUpperCase()}'] AS Array(UUID))`],
]);

test.each(["", "1", `${ID}'`, `${ID}\n`, `'), 1) --`])("%j is no UUID, and comes into no query", (text) => {
  expect(() => uuidsLiteral([ID, text])).toThrow("not a UUID");
});

test("a text comes into a query as digits alone", () => {
  expect(textLiteral("'); größer")).toBe("unhex('27293b206772c3b6c39f6572')");
});

describe("readQuery", () => {
  test.each([
    "queries/events/events",
    "settlement/find-deltas",
    "settlement/apply-deltas",
    "funnel/company-facts",
  ])("reads %s once, as one statement", async (name) => {
    const reading = readQuery(name);
    expect(readQuery(name)).toBe(reading);
    const statement = (await reading).replaceAll(/^--.*$/gm, "");
    expect(statement).toMatch(/^\s*(SELECT|INSERT)/);
    expect(statement.trimEnd().replace(/;$/, "")).not.toMatch(/;\s*$/m);
  });

  test("rejects for a query that is not there", async () => {
    await expect(readQuery("no-such-query")).rejects.toThrow("no-such-query");
  });
});
