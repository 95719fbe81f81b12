const EVERY_MS_MAX = 30_000;

/**
 * Reads a JSON answer of the API again and again until `isDone` says so: not while the page is not seen, and less often
 * while nothing answers.
 */
export async function poll<Answer>(
  address: string,
  { everyMs, isDone }: { everyMs: number; isDone: (answer: Answer) => boolean },
): Promise<void> {
  let waitMs = everyMs;
  for (;;) {
    if (!document.hidden) {
      const answer = await read<Answer>(address);
      if (answer !== undefined && isDone(answer)) return;
      waitMs = answer === undefined ? Math.min(waitMs * 2, EVERY_MS_MAX) : everyMs;
    }
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

/** Undefined if there is no answer at the moment. */
async function read<Answer>(address: string): Promise<Answer | undefined> {
  try {
    const response = await fetch(address, { headers: { accept: "application/json" } });
    return response.ok ? ((await response.json()) as Answer) : undefined;
  } catch {
    return undefined;
  }
}
