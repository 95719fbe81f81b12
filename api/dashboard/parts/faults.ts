import { Problem, type ProblemCode } from "../../../schemas/problem.js";
import type { Form } from "../read-form.js";

/** Refuses a form whose field does not hold the word that confirms it. */
export function requireTyped(form: Form, { field, word }: { field: string; word: string }): void {
  if (form.text(field) === word) return;
  throw new Problem("invalid-body", "Nothing was changed.", {
    errors: [{ path: `/${field}`, message: `must be ${word}` }],
  });
}

/** Puts Problems of these codes beside a field of the form: the API names no field where a whole rule is broken. */
export async function faultsAt<Answer>(
  fields: Partial<Record<ProblemCode, string>>,
  work: Promise<Answer>,
): Promise<Answer> {
  try {
    return await work;
  } catch (error) {
    const field = error instanceof Problem && error.errors === undefined ? fields[error.code] : undefined;
    if (field === undefined) throw error;
    const { code, message, retryAfterSeconds } = error as Problem;
    throw new Problem(code, "This was not accepted.", {
      errors: [{ path: `/${field}`, message }],
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
      cause: error,
    });
  }
}
