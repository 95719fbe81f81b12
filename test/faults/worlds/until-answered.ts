import { retry } from "../../../schemas/async/retry.js";

interface Patience {
  patienceMs: number;
  pauseMs?: number;
  /** Awaited before the next question. */
  meanwhile?: () => Promise<void>;
}

/** Asks one who may die at several points, one after the other, before it answers. Then throws as the last question did. */
export function untilAnswered<Answer>(
  ask: () => Promise<Answer>,
  { patienceMs, pauseMs = 100, meanwhile = async () => undefined }: Patience,
): Promise<Answer> {
  const deadline = Date.now() + patienceMs;
  const isTransient = () => Date.now() < deadline;
  return retry(ask, { backoff: { firstMs: pauseMs }, isTransient, onFailure: meanwhile });
}
