import { type FieldFault, Problem } from "../../../schemas/problem.js";
import { BODY_LIMITS, requireFewValues } from "../../base/http/body-limits.js";
import { isObject } from "../../../schemas/formats.js";
import type { Form } from "../read-form.js";

/** By the names of the fields; lists are in any order. */
export type Values = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The hidden field with the values that a form began with. */
const BEFORE = "before";

/** In a form that changes a record: lets `requireUnchanged` see what somebody else changed meanwhile. */
export function Before({ values }: { values: Values }) {
  return <input type="hidden" name={BEFORE} value={JSON.stringify(textsOf(values))} />;
}

/**
 * Refuses a form whose record somebody else changed after the form was made, and says what it is now. The page then has
 * the typed values and the record as it is: saved again, they take its place. Two who save in the same instant are not told.
 */
export function requireUnchanged(form: Form, now: Values): void {
  const before = readBefore(form.text(BEFORE));
  if (before === undefined) return;
  const faults = Object.entries(textsOf(now)).flatMap(([name, value]): FieldFault[] => {
    const isMine = textOf(form.all(name)) === value;
    return before[name] === value || isMine ? [] : [{ path: `/${name}`, message: wordsFor(value) }];
  });
  if (faults.length > 0) throw new Problem("precondition-failed", SENTENCE, { errors: faults });
}

const SENTENCE =
  "Someone else changed these settings after you opened the page. Your changes are not saved yet; save again to replace theirs.";

function wordsFor(value: string): string {
  return value === "" ? "is empty now" : `is now ${value.replaceAll("\n", ", ")}`;
}

function readBefore(text: string): Record<string, unknown> | undefined {
  try {
    requireFewValues(Buffer.from(text), BODY_LIMITS);
    const before: unknown = JSON.parse(text);
    return isObject(before) ? before : undefined;
  } catch {
    return undefined;
  }
}

function textsOf(values: Values): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value = ""]) => [name, textOf([value].flat())]),
  );
}

/** As forms send it. */
function textOf(values: readonly string[]): string {
  return values
    .map((value) => value.replaceAll("\r\n", "\n").trim())
    .filter((value) => value !== "")
    .sort()
    .join("\n");
}
