import { inGroups } from "../../schemas/async/in-groups.js";
import { Problem } from "../../schemas/problem.js";

/** As `inGroups`: items of one owner share a transaction. A store that is down is a Problem, which all of them have. */
export function inOwnerGroups<Item extends { ownerId: string }, Result>(
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
  itemsMax: number,
): (item: Item) => Promise<Result> {
  return inGroups(run, {
    keyOf: ({ ownerId }) => ownerId,
    itemsMax,
    isOfAll: (error) => error instanceof Problem,
  });
}
