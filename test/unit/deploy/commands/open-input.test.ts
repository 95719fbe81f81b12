import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { openInput } from "../../../../deploy/import/open-file.js";

test("input of which nothing comes is left once its signal aborts, for that reason", async () => {
  const stopped = new AbortController();
  const opened = openInput(new PassThrough(), stopped.signal);
  stopped.abort(new Error("Stopped by SIGINT."));
  await expect(opened).rejects.toThrow("Stopped by SIGINT.");
});
