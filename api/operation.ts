import type { ProblemCode } from "../schemas/problem.js";
import type { Tag } from "./resources.js";

/**
 * The description of a route in the OpenAPI document. Schemas are the very objects that requests are validated with or that
 * records are typed after (`schemas/`); one that has a `title` becomes a component of that name.
 */
export interface Operation {
  /** camelCase and unique: generated clients name their functions after it. */
  id: string;
  /** By default the tag of the resource of its action. */
  tag?: Tag;
  summary: string;
  description?: string;
  /** JSON schemas of the path's parameters, by name; text where nothing is said. */
  path?: Readonly<Record<string, Parameter>>;
  query?: Readonly<Record<string, Parameter>>;
  /** Request headers that mean something to this operation. */
  headers?: Readonly<Record<string, Parameter>>;
  body?: Content;
  /** Answers of success by their status. */
  answers: Readonly<Record<number, AnswerContent>>;
  /** Codes that this operation can answer beyond those that every one can. */
  problems?: readonly ProblemCode[];
}

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface Parameter {
  schema: JsonSchema;
  description: string;
  required?: boolean;
  example?: unknown;
}

export interface Content {
  schema: JsonSchema;
  example: unknown;
  /** `application/json` where nothing is said. */
  types?: readonly string[];
  description?: string;
}

/** `schema` and `example` are absent where there is no body. */
export interface AnswerContent extends Partial<Content> {
  description: string;
  headers?: Readonly<Record<string, Parameter>>;
  /** Other forms that `Accept` can ask for, by content type. Each has an `ETag` where the default form has one. */
  others?: Readonly<Record<string, Pick<Content, "schema" | "example">>>;
}
