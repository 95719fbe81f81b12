import { expect, test } from "vitest";
import { SharedCount } from "../../../../schemas/async/shared-count.js";

const running = new AbortController().signal;

test("is one count for all that share its memory", () => {
  const here = new SharedCount();
  const there = new SharedCount(here.memory);
  here.add(2);
  there.add(-1);
  expect([here.value, there.value]).toEqual([1, 1]);
});

test("tells the others when it rises from zero", async () => {
  const here = new SharedCount();
  const there = new SharedCount(here.memory);
  const told = there.untilRisen(3_600_000, { signal: running });
  here.add(1);
  await told;
});

test("waits no longer than asked, whether it is zero or not", async () => {
  const count = new SharedCount();
  await count.untilRisen(1, { signal: running });
  count.add(1);
  await count.untilRisen(1, { signal: running });
});

test.each([0, 1])("waits no more when the signal aborts (count %d)", async (value) => {
  const count = new SharedCount();
  count.add(value);
  const stop = new AbortController();
  const waiting = count.untilRisen(3_600_000, { signal: stop.signal });
  stop.abort();
  await waiting;
});
