/** Steps that lead to a failure. */
export interface Failing<Step> {
  message: string;
  steps: readonly Step[];
}

/**
 * Leaves out ever smaller runs of steps, for as long as the rest still fails and there is time: delta debugging.
 * `attempt` answers how some steps fail, if they do.
 */
export async function shrinkSteps<Step>(
  failing: Failing<Step>,
  { attempt, until }: { attempt: (steps: readonly Step[]) => Promise<string | undefined>; until: number },
): Promise<Failing<Step>> {
  let shortest = failing;
  for (
    let size = Math.ceil(failing.steps.length / 2);
    size >= 1;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let at = 0; at < shortest.steps.length && Date.now() < until;) {
      const rest = shortest.steps.filter((_, index) => index < at || index >= at + size);
      const message = await attempt(rest);
      if (message === undefined) at += size;
      else shortest = { message, steps: rest };
    }
  }
  return shortest;
}
