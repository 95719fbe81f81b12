import { expect, it } from "vitest";
import { untilAborted } from "../../../../schemas/async/until-aborted.js";

const over = new Error("over");

it("settles as the work does", async () => {
  const { signal } = new AbortController();
  expect(await untilAborted(Promise.resolve("done"), signal)).toBe("done");
  await expect(untilAborted(Promise.reject(new Error("failed")), signal)).rejects.toThrow("failed");
});

it("rejects when the signal comes first", async () => {
  const ending = new AbortController();
  const ended = untilAborted(new Promise(() => undefined), ending.signal);
  ending.abort(over);
  await expect(ended).rejects.toBe(over);
});

it("leaves no rejection to nobody where the signal came before the work failed", async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => void unhandled.push(reason);
  process.on("unhandledRejection", note);
  await expect(untilAborted(Promise.reject(new Error("failed")), AbortSignal.abort(over))).rejects.toBe(over);
  await new Promise(setImmediate);
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
});
