import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { giveWay } from "../../../../ingest/import/give-way.js";

test("waits for those who keep the thread busy", async () => {
  const others = keepBusy({ turns: 8 });
  await giveWay({ msMax: 60_000 });
  expect(others.turnsLeft).toBe(0);
});

test("goes on in the end beside those who never stop", async () => {
  const others = keepBusy({ turns: Infinity });
  await giveWay();
  others.turnsLeft = 0;
});

/** Each turn of the thread is a long one. */
function keepBusy({ turns }: { turns: number }): { turnsLeft: number } {
  const others = { turnsLeft: turns };
  const work = async () => {
    for (; others.turnsLeft > 0; others.turnsLeft--) {
      await turn();
      for (const until = performance.now() + 5; performance.now() < until;);
    }
  };
  void work();
  return others;
}
