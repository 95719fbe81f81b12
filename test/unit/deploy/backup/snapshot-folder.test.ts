import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openSnapshot } from "../../../../deploy/backup/snapshot-folder.js";

let parent: string;
let from: string;
let to: string;

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "snapshot-"));
  from = join(parent, "from");
  to = join(parent, "to");
  mkdirSync(join(from, "base/1"), { recursive: true });
  mkdirSync(join(from, "part_1"));
  writeFileSync(join(from, "base/1/table"), "one");
  writeFileSync(join(from, "part_1/data"), "never changes");
});

afterEach(() => rmSync(parent, { recursive: true }));

const snapshot = () =>
  openSnapshot({
    from,
    to,
    isLeftOut: (path) => path.startsWith("tmp_"),
    isImmutable: (path) => path.startsWith("part_"),
  });
const list = () => readdirSync(to, { recursive: true }).sort();
const EARLIER = new Date("2026-01-01");

test("has files, empty folders and links, and leaves out what it is told", () => {
  mkdirSync(join(from, "empty"));
  mkdirSync(join(from, "tmp_2"));
  symlinkSync("nowhere", join(from, "link"));
  snapshot().take();
  expect(list()).toEqual(["base", "base/1", "base/1/table", "empty", "link", "part_1", "part_1/data"]);
});

test("links folders that never change, and copies the others with their times", () => {
  utimesSync(join(from, "base/1/table"), EARLIER, EARLIER);
  snapshot().take();
  expect(statSync(join(to, "part_1/data")).ino).toBe(statSync(join(from, "part_1/data")).ino);
  expect(statSync(join(to, "base/1/table")).ino).not.toBe(statSync(join(from, "base/1/table")).ino);
  expect(statSync(join(to, "base/1/table")).mtime).toEqual(EARLIER);
});

test("a second take brings what came, changed and went", () => {
  const { take } = snapshot();
  take();
  appendFileSync(join(from, "base/1/table"), " more");
  rmSync(join(from, "part_1"), { recursive: true });
  mkdirSync(join(from, "part_1_2"));
  writeFileSync(join(from, "part_1_2/data"), "merged");
  take();
  expect(list()).toEqual(["base", "base/1", "base/1/table", "part_1_2", "part_1_2/data"]);
  expect(readFileSync(join(to, "base/1/table"), "utf8")).toBe("one more");
});

test("a second take copies a file again that may have changed within one step of its time", () => {
  const { take } = snapshot();
  take();
  const { mtime } = statSync(join(from, "base/1/table"));
  writeFileSync(join(from, "base/1/table"), "two");
  utimesSync(join(from, "base/1/table"), mtime, mtime);
  take();
  expect(readFileSync(join(to, "base/1/table"), "utf8")).toBe("two");
});

test("a second take does not read files again that were quiet", () => {
  utimesSync(join(from, "base/1/table"), EARLIER, EARLIER);
  const { take } = snapshot();
  take();
  writeFileSync(join(to, "base/1/table"), "mark");
  take();
  expect(readFileSync(join(to, "base/1/table"), "utf8")).toBe("mark");
});
