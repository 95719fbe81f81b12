/** Asks once for all who ask within this time. A failure is theirs together as well. */
export function shareFor<T>(durationMs: number, ask: () => Promise<T>): () => Promise<T> {
  let asked: { at: number; answer: Promise<T> } | undefined;
  return () => {
    const now = performance.now();
    if (asked === undefined || now - asked.at > durationMs) asked = { at: now, answer: ask() };
    return asked.answer;
  };
}
