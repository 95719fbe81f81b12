import { expect, test } from "vitest";
import { Random } from "../../../deploy/demo/random.js";
import { liveEvents, type Model } from "../../model/model.js";
import { sentEvent } from "../../support/statistics/sent-events.js";
import { planSteps, shrinkSteps } from "../../model/plan-steps.js";

const artifact = { kind: "package", id: "p", libraryType: "other", name: "files" } as const;
const event = (key: string, day: string) => sentEvent(new Random(1), { artifact, key, day });
const sent = (id: string, ...events: ReturnType<typeof event>[]) => ({
  ...{ id, events, gone: false, aborted: false, retracted: false, erased: new Set<string>(), refused: 0 },
});

function modelOf(...imports: Model["imports"]): Model {
  return { artifacts: [{ ...artifact }], imports, collected: [], stages: new Map(), changes: [] };
}

const daysOf = (model: Model) => liveEvents(model).map(({ key, day }) => `${key} ${day}`);

test("in the model the last event with an id counts, until its import is retracted", () => {
  const model = modelOf(
    sent("1", event("a", "2025-03-01"), event("b", "2025-03-01")),
    sent("2", event("a", "2025-03-02")),
  );
  expect(daysOf(model)).toEqual(["a 2025-03-02", "b 2025-03-01"]);
  model.imports = model.imports.map((each) => ({ ...each, gone: each.id === "2" }));
  expect(daysOf(model)).toEqual(["a 2025-03-01", "b 2025-03-01"]);
});

test("in the model nothing counts of an address that was erased, and what it overrode counts again", () => {
  const [first, second] = [sent("1", event("a", "2025-03-01")), sent("2", event("a", "2025-03-02"))];
  second.erased.add(event("a", "2025-03-02").place.address);
  expect(daysOf(modelOf(first, second))).toEqual(["a 2025-03-01"]);
});

const SEEDS = Array.from({ length: 20 }, (_, index) => index + 1);
const kindsOf = (kills: boolean) =>
  new Set(SEEDS.flatMap((seed) => planSteps(seed, { steps: 100, kills }).map((step) => step.do)));

test("a seed always plans the same", () => {
  expect(planSteps(5, { steps: 100, kills: true })).toEqual(planSteps(5, { steps: 100, kills: true }));
});

test("some seeds do everything, and kill only where it is asked for", () => {
  expect(kindsOf(true).size).toBe(10);
  expect([...kindsOf(true)].filter((kind) => !kindsOf(false).has(kind))).toEqual(["kill"]);
});

const failsWith = (needed: readonly number[]) => async (steps: readonly number[]) =>
  needed.every((step) => steps.includes(step)) ? `fails with ${steps.length}` : undefined;
const all = Array.from({ length: 50 }, (_, step) => step);

test.each([[[7]], [[0, 49]], [[3, 20, 21, 22]]])(
  "leaves only the steps that a failure needs: %j",
  async (needed) => {
    const shortest = await shrinkSteps(
      { message: "fails", steps: all },
      { attempt: failsWith(needed), until: Infinity },
    );
    expect(shortest).toEqual({ message: `fails with ${needed.length}`, steps: needed });
  },
);
