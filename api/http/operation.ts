import type { ProblemCode } from "../../schemas/problem.js";
import type { Tag } from "../access/resources.js";

/**
 * The description of a route in the OpenAPI document. Schemas are the objects of `schemas/` that validate requests and
 * give records their types. A schema with a `title` becomes a component of that name.
 */
export interface Operation {
  /** camelCase and unique: generated clients name their functions after it. */
  id: string;
  /** By default the tag of the resource of its action. */
  tag?: Tag;
  summary: string;
  description?: string;
  /** JSON schemas of the path's parameters, by name; text by default. */
  path?: Readonly<Record<string, Parameter>>;
  /** Any other parameter is refused. */
  query?: Readonly<Record<string, Parameter>>;
  /** Parameters whose names begin with this are taken as well. */
  queryPrefix?: string;
  /** Request headers that the operation reads. */
  headers?: Readonly<Record<string, Parameter>>;
  body?: Content;
  /** The success answers by status. */
  answers: Readonly<Record<number, AnswerContent>>;
  /** Codes of this operation beyond those of every operation. */
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
  /** `application/json` by default. */
  types?: readonly string[];
  description?: string;
}

/** `schema` and `example` are absent if there is no body. */
export interface AnswerContent extends Partial<Content> {
  description: string;
  headers?: Readonly<Record<string, Parameter>>;
  /** Other formats that `Accept` can request, by content type. Each has an `ETag` if the default format has one. */
  others?: Readonly<Record<string, Pick<Content, "schema" | "example">>>;
}
