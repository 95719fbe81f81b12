import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import { FORMATS, isObject } from "./formats.js";
import { invalidBody } from "./invalid-body.js";
import type { FieldFault } from "./problem.js";

/**
 * The parser throws `invalid-body` with all faults at once; of a body of more than `VALUES_LOOKED_THROUGH` values with the
 * first. The further rules, which a schema cannot express, run on the fields that the schema accepted.
 */
export function compileBody<Body extends object>(
  schema: object,
  furtherFaults: (sound: Partial<Body>, faulty: ReadonlySet<string>) => FieldFault[] = () => [],
): (body: unknown) => Body {
  // Compiled for the first body: the schemas of all routes together would delay the start.
  const compiled = new Map<Ajv, ValidateFunction<Body>>();
  const validatorOf = (ajv: Ajv) => {
    const validate = compiled.get(ajv) ?? ajv.compile<Body>(schema);
    compiled.set(ajv, validate);
    return validate;
  };
  return (body) => {
    const validate = validatorOf(hasMany(body) ? findsFirst : findsAll);
    const faults = validate(body) ? [] : (validate.errors ?? []).map(faultOf);
    if (isObject(body)) faults.push(...newFaults(body as Body, { faults, furtherFaults }));
    if (faults.length > 0) throw invalidBody(faults);
    return body as Body;
  };
}

const STRICT = { strict: true, allowUnionTypes: true };
const findsAll = new Ajv({ ...STRICT, allErrors: true });
const findsFirst = new Ajv(STRICT);
for (const [name, { validate }] of Object.entries(FORMATS))
  for (const ajv of [findsAll, findsFirst]) ajv.addFormat(name, validate);

/** Whether a schema accepts a value. Compiled for the first value. */
export function accepts(schema: object, value: unknown): boolean {
  const validate = validators.get(schema) ?? findsFirst.compile(schema);
  validators.set(schema, validate);
  return validate(value);
}

const validators = new WeakMap<object, ValidateFunction>();

/** Each could have a fault: to find that many takes 10 ms, and nobody reads them. */
const VALUES_LOOKED_THROUGH = 10_000;

function hasMany(body: unknown): boolean {
  const waiting = [body];
  let values = 0;
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    values += 1;
    if (values > VALUES_LOOKED_THROUGH) return true;
    if (typeof value === "object" && value !== null)
      for (const each of Object.values(value)) waiting.push(each);
  }
  return false;
}

interface Further<Body> {
  faults: readonly FieldFault[];
  furtherFaults: (sound: Partial<Body>, faulty: ReadonlySet<string>) => FieldFault[];
}

/** The faults of the further rules. Each field has at most one fault, from the schema or from the rules. */
function newFaults<Body extends object>(body: Body, { faults, furtherFaults }: Further<Body>): FieldFault[] {
  const faulty = new Set(faults.map(({ path }) => path.split("/", 2).join("/")));
  const sound = Object.entries(body).filter(([field]) => !faulty.has(`/${escapePointer(field)}`));
  const further = furtherFaults(Object.fromEntries(sound) as Partial<Body>, faulty);
  return further.filter(({ path }) => !faulty.has(path));
}

function faultOf({ instancePath, keyword, params }: ErrorObject): FieldFault {
  const given = params as Record<string, unknown>;
  switch (keyword) {
    case "required":
      return {
        path: `${instancePath}/${escapePointer(String(given["missingProperty"]))}`,
        message: "is required",
      };
    case "additionalProperties":
      return {
        path: `${instancePath}/${escapePointer(String(given["additionalProperty"]))}`,
        message: "is not a known field",
      };
    default:
      return { path: instancePath, message: sentenceOf(keyword, given) };
  }
}

function sentenceOf(keyword: string, given: Record<string, unknown>): string {
  switch (keyword) {
    case "type":
      return `must be ${typeSentence(given["type"])}`;
    case "enum":
      return `must be one of ${(given["allowedValues"] as (string | null)[]).filter((value) => value !== null).join(", ")}`;
    case "minLength":
      return given["limit"] === 1
        ? "must not be empty"
        : `must have at least ${String(given["limit"])} characters`;
    case "maxLength":
      return `must have at most ${String(given["limit"])} characters`;
    case "minItems":
      return given["limit"] === 1
        ? "must not be empty"
        : `must have at least ${String(given["limit"])} items`;
    case "uniqueItems":
      return "must not contain duplicates";
    case "maxItems":
      return `must have at most ${String(given["limit"])} items`;
    case "format":
      return FORMATS[given["format"] as keyof typeof FORMATS].sentence;
    default:
      return "is invalid";
  }
}

const TYPE_SENTENCES: Record<string, string> = {
  object: "a JSON object",
  array: "a JSON array",
  string: "text",
  boolean: "true or false",
  integer: "a whole number",
  number: "a number",
};

/** Null means "absent", so that the sentence does not mention it. */
function typeSentence(type: unknown): string {
  const types = (Array.isArray(type) ? (type as string[]) : [String(type)]).filter((name) => name !== "null");
  return types.map((name) => TYPE_SENTENCES[name] ?? name).join(" or ");
}

/** RFC 6901. */
function escapePointer(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}
