import { describe } from "vitest";
import { isBlank, LINE_BYTES_MAX } from "../../../../schemas/records/import-line.js";
import { testTable } from "../../../support/test-table.js";

describe("isBlank", () => {
  testTable("says of a line whether there is nothing on it (%#)", (text) => isBlank(Buffer.from(text)), [
    ["", true],
    [" \t\r", true],
    ["\u00a0", false],
    ["0", false],
    [" ".repeat(LINE_BYTES_MAX) + "\r", true],
    [" ".repeat(LINE_BYTES_MAX + 2), false],
  ]);
});
