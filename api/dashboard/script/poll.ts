/** Reads a JSON answer of the API again and again until `isDone` says so. Waits longer while the page is not seen. */
export async function poll<Answer>(
  address: string,
  { everyMs, isDone }: { everyMs: number; isDone: (answer: Answer) => boolean },
): Promise<void> {
  for (;;) {
    if (!document.hidden) {
      const answer = await read<Answer>(address);
      if (answer !== undefined && isDone(answer)) return;
    }
    await new Promise((resolve) => setTimeout(resolve, everyMs));
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
