import { expect, test } from "vitest";
import { shrinkSteps } from "../../model/shrink-steps.js";

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

test("answers what it has when the time is over", async () => {
  const failing = { message: "fails", steps: all };
  expect(await shrinkSteps(failing, { attempt: failsWith([7]), until: 0 })).toEqual(failing);
});
