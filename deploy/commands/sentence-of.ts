import { Problem } from "../../schemas/problem.js";
import { StartFailure } from "../process/start-failure.js";

/** The message of an error and, unless the operator caused it, that of its cause. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const explained = error instanceof StartFailure || (error instanceof Problem && error.status < 500);
  const cause = !explained && error.cause instanceof Error ? ` (${sentenceOf(error.cause)})` : "";
  return (error.message || error.name) + cause;
}
