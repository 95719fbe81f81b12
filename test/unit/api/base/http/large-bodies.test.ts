import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { openLargeBodies } from "../../../../../api/base/http/large-bodies.js";

const { signal } = new AbortController();

test("a sender has four large bodies in memory at once, and keeps nobody else waiting", async () => {
  const take = openLargeBodies();
  const own = await Promise.all([1, 2, 3, 4].map(() => take("ada", signal)));
  let isThere = false;
  const fifth = take("ada", signal).then((body) => ((isThere = true), body));
  const other = await take("198.51.100.0/24", signal);
  expect(isThere).toBe(false);
  own[0]?.[Symbol.dispose]();
  (await fifth)[Symbol.dispose]();
  for (const body of [...own, other]) body[Symbol.dispose]();
});

test("large bodies are worked on one after the other, with time for other requests in between", async () => {
  const take = openLargeBodies();
  const events: string[] = [];
  const bodies = await Promise.all(["ada", "bob", "cleo"].map((sender) => take(sender, signal)));
  const works = bodies.map((body, at) => body.inTurn(() => void events.push(`body ${at}`)));
  const others = [0, 1, 2].map(async (at) => {
    for (let turn = 0; turn <= at; turn += 1) await setImmediate();
    events.push(`other ${at}`);
  });
  await Promise.all([...works, ...others]);
  expect(events.filter((event) => event.startsWith("body"))).toEqual(["body 0", "body 1", "body 2"]);
  expect(events.indexOf("body 1")).toBeGreaterThan(events.indexOf("other 0"));
  expect(events.indexOf("body 2")).toBeGreaterThan(events.indexOf("other 1"));
});

test("work that fails keeps the next from nothing", async () => {
  const take = openLargeBodies();
  using body = await take("ada", signal);
  await expect(body.inTurn(() => Promise.reject(new Error("no JSON")))).rejects.toThrow("no JSON");
  expect(await body.inTurn(() => 1)).toBe(1);
});
