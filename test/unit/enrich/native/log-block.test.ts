import { describe, expect, test } from "vitest";
import { LogBlock } from "../../../../enrich/native/log-block.js";
import { IMPORT_ID, PACKAGE_ID, PIXEL_ID, RECEIVED_AT } from "../lines/chunk-of.js";
import { readBlock, readRows } from "./read-block.js";

const refused = {
  importId: IMPORT_ID,
  line: 2 ** 40,
  fault: { class: "error", type: "artifact-not-found", message: "No package", packageId: PACKAGE_ID },
  bytes: Buffer.from('{"$package":"x"}\r'),
  loggedAt: RECEIVED_AT,
} as const;

describe("LogBlock", () => {
  test("writes an entry with its line as it was sent", () => {
    const block = new LogBlock();
    block.add(refused);
    expect(readRows(block.encode())).toEqual([
      {
        import_id: IMPORT_ID,
        line: 2n ** 40n,
        class: 1,
        type: "artifact-not-found",
        message: "No package",
        package_id: PACKAGE_ID,
        pixel_id: "",
        line_bytes: '{"$package":"x"}\r',
        logged: BigInt(RECEIVED_AT),
      },
    ]);
  });

  test.each([
    ["error", 1],
    ["warning", 2],
    ["info", 3],
  ] as const)("writes the class %s", (of, code) => {
    const block = new LogBlock();
    block.add({ ...refused, fault: { class: of, type: "retracted", message: "", pixelId: PIXEL_ID } });
    expect(readRows(block.encode())[0]).toMatchObject({ class: code, type: "retracted", pixel_id: PIXEL_ID });
  });

  test("keeps a line's bytes that are no UTF-8", () => {
    const block = new LogBlock();
    const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x0d]);
    block.add({ ...refused, bytes });
    expect(Buffer.concat(block.encode()).includes(Buffer.concat([Buffer.from([4]), bytes]))).toBe(true);
  });

  test("names its columns in the order in which it writes them, and keeps nothing of an earlier block", () => {
    const block = new LogBlock();
    block.add(refused);
    block.clear();
    const { rows, columns } = readBlock(block.encode());
    expect(rows).toBe(0);
    const names = columns.map(({ name }) => name).join(", ");
    expect(block.insertQuery).toBe(`INSERT INTO import_log (${names}) FORMAT Native`);
  });
});
