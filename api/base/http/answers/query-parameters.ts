import type { ParsedUrlQuery } from "node:querystring";
import type { FromSchema, JSONSchema } from "json-schema-to-ts";
import { closestMatch } from "leven";
import { Problem } from "../../../../schemas/problem.js";
import { accepts } from "../../../../schemas/validate.js";

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface Parameter {
  schema: JsonSchema;
  description: string;
  required?: boolean;
  example?: unknown;
  /** What it accepts, for an error: "must be a single action". By default derived from the schema. */
  sentence?: string;
  /** Whether a text that fits the schema is a value. */
  allows?: (text: string) => boolean;
}

export type Parameters = Readonly<Record<string, Parameter>>;

/** The values of a query, typed by the schemas of the operation's parameters. One that is required, or has a default, has a value. */
export type QueryOf<Asked extends Parameters> = {
  readonly [Name in keyof Asked]: ValueOf<Asked[Name]>;
};

type ValueOf<Asked extends Parameter> = Asked extends { required: true } | { schema: { default: unknown } }
  ? TypeOf<Asked["schema"]>
  : TypeOf<Asked["schema"]> | undefined;
type TypeOf<Schema> = Schema extends JSONSchema ? FromSchema<Schema> : unknown;

/** Rejects parameters that the operation does not have, and reads the others. Throws as `readParameters`. */
export function readQuery<Asked extends Parameters>(
  query: ParsedUrlQuery,
  operation: AskedOperation<Asked>,
): QueryOf<Asked> {
  rejectUnknown(query, operation);
  return readParameters(query, operation.query);
}

/** Throws `invalid-query`, or `invalid-date` for a date, which names the parameter and what it accepts. */
export function readParameters<Asked extends Parameters>(
  query: ParsedUrlQuery,
  parameters: Asked | undefined,
): QueryOf<Asked> {
  const values = Object.entries(parameters ?? {}).map(([name, parameter]) => [
    name,
    readValue(query[name], { name, ...parameter }),
  ]);
  return Object.fromEntries(values) as QueryOf<Asked>;
}

/** The part of an `Operation` that is read here. */
interface AskedOperation<Asked extends Parameters = Parameters> {
  query?: Asked;
  queryPrefix?: string;
  answers?: Readonly<Record<number, { description: string; others?: Readonly<Record<string, unknown>> }>>;
}

function readValue(sent: string | string[] | undefined, asked: Parameter & { name: string }): unknown {
  const { name, schema, required = false, allows } = asked;
  const sentence = () => asked.sentence ?? sentenceOf(schema);
  const code = schema["format"] === "date" ? "invalid-date" : "invalid-query";
  if (sent === undefined && required) throw new Problem(code, `${name} is required: it ${sentence()}.`);
  if (sent === undefined) return schema["default"];
  if (Array.isArray(sent) && schema["type"] !== "array")
    throw new Problem(code, `${name} can be given only once.`);
  const value = valueOf(sent, schema["type"]);
  const isAllowed = () => allows === undefined || [sent].flat().every(allows);
  if (value !== undefined && accepts(schema, value) && isAllowed()) return value;
  throw new Problem(code, `${name} ${sentence()}.`);
}

/** Digits alone are a number: `1e3` and `0x10` are typing errors. */
function valueOf(sent: string | string[], type: unknown): unknown {
  if (type === "array") return [sent].flat();
  if (type === "integer") return /^(0|[1-9]\d{0,14})$/.test(String(sent)) ? Number(sent) : undefined;
  if (type === "boolean") return sent === "true" ? true : sent === "false" ? false : undefined;
  return sent;
}

interface TextSchema {
  type?: string;
  enum?: readonly unknown[];
  format?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
}

function sentenceOf(schema: Parameter["schema"]): string {
  const { type, enum: values, format, minimum, maximum, minLength = 0, maxLength } = schema as TextSchema;
  if (type === "boolean") return "must be true or false";
  if (values !== undefined) return `must be one of ${values.join(", ")}`;
  if (type === "integer") return `must be a whole number from ${minimum} to ${maximum}`;
  if (format === "date") return "must be a calendar date in the form YYYY-MM-DD";
  if (format === "uuid") return "must be a UUID";
  if (maxLength !== undefined) return `must have ${minLength} to ${maxLength} characters`;
  return "must not be empty";
}

const LETTERS_A_SLIP = 3;
const SLIPS_MAX = 3;
const SHOWN_MAX = 40;

/**
 * Rejects a query parameter that the operation does not have: the response would look as if it had taken effect.
 * @throws Problem invalid-query, with the nearest name that there is, or else all of them
 */
function rejectUnknown(
  query: ParsedUrlQuery,
  { query: parameters = {}, queryPrefix, answers }: AskedOperation,
): void {
  const known = Object.keys(parameters);
  const isKnown = (name: string) =>
    known.includes(name) ||
    (queryPrefix !== undefined && name.startsWith(queryPrefix) && name.length > queryPrefix.length);
  const unknown = Object.keys(query).find((name) => !isKnown(name));
  if (unknown === undefined) return;
  throw new Problem(
    "invalid-query",
    "Unknown query parameter " +
      `${unknown.slice(0, SHOWN_MAX)}${adviceOf(unknown, known, queryPrefix)}${formatsOf(unknown, answers)}`,
  );
}

/** Other services choose the format of an answer by a parameter. */
function formatsOf(unknown: string, answers: AskedOperation["answers"]): string {
  const others = Object.keys(answers?.[200]?.others ?? {});
  if (unknown !== "format" || others.length === 0) return "";
  return ` Use the Accept header to choose the format, such as ${others[0]}.`;
}

function adviceOf(unknown: string, known: readonly string[], queryPrefix: string | undefined): string {
  const all = [...known, ...(queryPrefix === undefined ? [] : [`${queryPrefix}<name>`])];
  if (all.length === 0) return ".";
  const nearest =
    unknown.length <= SHOWN_MAX
      ? closestMatch(unknown.toLowerCase(), known, { maxDistance: slipsOf(unknown) })
      : undefined;
  return nearest === undefined ? `. Known parameters: ${all.join(", ")}.` : `. Did you mean ${nearest}?`;
}

function slipsOf({ length }: string): number {
  return Math.min(Math.floor(length / LETTERS_A_SLIP), SLIPS_MAX);
}
