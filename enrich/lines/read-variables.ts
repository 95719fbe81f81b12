import { VARIABLE_BYTES_MAX, VARIABLES_MAX } from "../../schemas/records/import-line.js";
import type { LogType } from "../../schemas/records/import-log.js";
import { warning, type LineFault } from "./line-fault.js";
import type { LineFields } from "./decode-line.js";
import { isObject } from "../../schemas/formats.js";
import { cleanText, describeText, isLongerThan } from "./clean-text.js";
import { jsonText, numberText } from "./exact-numbers.js";

const DEPTH_MAX = 32;
/** Without a limit, one line of 1 MiB could fill the log with a hundred thousand entries. */
const WARNINGS_MAX = 64;

/**
 * Names and values in turn: nested objects flatten with dots, arrays and null become JSON text, numbers stay as
 * they were sent; of equal names the later wins. At most 64 of 1 KiB each; the rest and unknown `$` keys are dropped with a warning.
 * @param collected the `$` keys of a line of live collection: all others are variables
 */
export function readVariables(
  { otherNames, otherValues }: Pick<LineFields, "otherNames" | "otherValues">,
  warnings: LineFault[],
  collected?: ReadonlySet<string>,
): string[] {
  const adding: Adding = { variables: [], warnings, dropped: 0 };
  for (let index = 0; index < otherNames.length; index++) {
    const name = otherNames[index]!;
    if (name[0] !== "$" || collected?.has(name) === false)
      addVariable(adding, { name, value: otherValues[index], depth: 0 });
    else if (collected === undefined)
      warn(warnings, "unknown-property", () => `Unknown property ${describeText(name, NAME_SHOWN_MAX)}`);
  }
  if (adding.dropped > 0)
    warn(
      warnings,
      "invalid-value",
      () =>
        `More than ${VARIABLES_MAX} variables: ${adding.dropped} ${adding.dropped === 1 ? "was" : "were"} dropped`,
    );
  return adding.variables;
}

const NAME_SHOWN_MAX = 60;

/** Makes the message only where it is kept: long names cost time. */
function warn(warnings: LineFault[], type: LogType, message: () => string): void {
  if (warnings.length < WARNINGS_MAX) warnings.push(warning(type, message()));
}

interface Adding {
  variables: string[];
  warnings: LineFault[];
  dropped: number;
}

interface Variable {
  name: string;
  value: unknown;
  depth: number;
}

function addVariable(adding: Adding, { name, value, depth }: Variable): void {
  if (isObject(value) && depth < DEPTH_MAX && numberText(value) === undefined) {
    for (const key in value)
      addVariable(adding, { name: `${name}.${key}`, value: value[key], depth: depth + 1 });
    return;
  }
  const { variables, warnings } = adding;
  if (variables.length >= VARIABLES_MAX * 2) {
    adding.dropped++;
    return;
  }
  const text = variableText(value);
  if (
    text === undefined ||
    isLongerThan(text, VARIABLE_BYTES_MAX) ||
    isLongerThan(name, VARIABLE_BYTES_MAX)
  ) {
    const message = () =>
      `Variable ${describeText(name, NAME_SHOWN_MAX)} is longer than ${VARIABLE_BYTES_MAX} bytes and was dropped`;
    warn(warnings, "invalid-value", message);
    return;
  }
  putVariable(variables, cleanText(name), cleanText(text));
}

/** A name is in an event once, so that its breakdown counts the event once. */
function putVariable(variables: string[], name: string, text: string): void {
  for (let index = 0; index < variables.length; index += 2) {
    if (variables[index] !== name) continue;
    variables[index + 1] = text;
    return;
  }
  variables.push(name, text);
}

/** Undefined where a value is nested deeper than JSON.stringify can follow: it is then too long as well. */
function variableText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  try {
    return numberText(value) ?? jsonText(value);
  } catch {
    return undefined;
  }
}
