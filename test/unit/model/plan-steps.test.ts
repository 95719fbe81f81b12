import { expect, test } from "vitest";
import { planSteps } from "../../model/plan-steps.js";

const SEEDS = Array.from({ length: 20 }, (_, index) => index + 1);
const kindsOf = (kills: boolean) =>
  new Set(SEEDS.flatMap((seed) => planSteps(seed, { steps: 100, kills }).map((step) => step.do)));

test("a seed always plans the same", () => {
  expect(planSteps(5, { steps: 100, kills: true })).toEqual(planSteps(5, { steps: 100, kills: true }));
});

test("some seeds do everything, and kill only where it is asked for", () => {
  expect(kindsOf(true).size).toBe(9);
  expect([...kindsOf(true)].filter((kind) => !kindsOf(false).has(kind))).toEqual(["kill"]);
});
