import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { explainFileError, StartFailure, storeFailure } from "../../../../deploy/process/start-failure.js";

test.each([
  ["EACCES", /cannot write to/],
  ["EROFS", /read-only/],
  ["ENOSPC", /full/],
  ["EDQUOT", /quota/],
  ["ENOTDIR", /is a file/],
])("%s becomes a sentence that names the path and the cause", (code, sentence) => {
  const cause = Object.assign(new Error(code), { code });
  const failure = explainFileError(cause, "/some/path");
  expect(failure).toBeInstanceOf(StartFailure);
  expect(failure).toMatchObject({ message: expect.stringMatching(sentence) as string, cause });
  expect((failure as Error).message).toContain("/some/path");
});

test("an error without a known cause stays as it is", () => {
  const error = new Error("something else");
  expect(explainFileError(error, "/some/path")).toBe(error);
});

test("a store's failure carries the end of its log", () => {
  expect(storeFailure("It did not start", { dir: tmpdir(), tail: "FATAL: why" }).message).toMatch(
    /^It did not start\..* The end of its log:\nFATAL: why$/,
  );
});
