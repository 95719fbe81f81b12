import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { adminCommand } from "../../../deploy/commands/admin.js";

test("the page of admin commands has a row for each", () => {
  const rows = readFileSync("deploy/docs/reference/admin.md", "utf8").match(/^\| `.*$/gm) ?? [];
  const names = rows.flatMap((row) =>
    [...(row.split(" | ")[0] ?? "").matchAll(/`([\w-]+)/g)].map(([, name]) => name),
  );
  const missing = adminCommand().commands.filter((command) => !names.includes(command.name()));
  expect(missing.map((command) => command.name())).toEqual([]);
});
