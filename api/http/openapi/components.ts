import { FORMATS } from "../../../schemas/formats.js";
import type { JsonSchema, Operation } from "../operation.js";
import type { Route } from "../route.js";

export type DocumentObject = Record<string, unknown>;

/** Collects the parts that the operations of a document share. */
export class Components {
  readonly #schemas = new Map<string, { source: JsonSchema; published: DocumentObject }>();
  readonly #responses = new Map<string, DocumentObject>();
  readonly #headers = new Map<string, DocumentObject>();

  /** The schema as the document shows it: a reference if it has a title. */
  schema(source: JsonSchema): DocumentObject {
    const { title } = source;
    if (typeof title !== "string") return this.#published(source);
    const known = this.#schemas.get(title);
    if (known !== undefined && known.source !== source)
      throw new Error(`two schemas have the title ${title}`);
    if (known === undefined) {
      const published = {};
      // Stored before it is filled, because a schema may contain itself.
      this.#schemas.set(title, { source, published });
      Object.assign(published, this.#published(source));
    }
    return { $ref: `#/components/schemas/${title}` };
  }

  response(name: string, describe: () => DocumentObject): DocumentObject {
    if (!this.#responses.has(name)) this.#responses.set(name, describe());
    return { $ref: `#/components/responses/${name}` };
  }

  header(name: string, header: DocumentObject): DocumentObject {
    this.#headers.set(name, header);
    return { $ref: `#/components/headers/${name}` };
  }

  described(): DocumentObject {
    const schemas = [...this.#schemas].map(([title, { published }]) => [title, published] as const);
    return {
      schemas: inOrder(schemas),
      responses: inOrder([...this.#responses]),
      headers: inOrder([...this.#headers]),
    };
  }

  #published(schema: JsonSchema): DocumentObject {
    const fields = Object.entries(schema).map(([name, value]) => [name, this.#value(value)] as const);
    return { ...Object.fromEntries(fields), ...publicFormat(schema) };
  }

  #value(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((each) => this.#value(each));
    return typeof value === "object" && value !== null ? this.schema(value as JsonSchema) : value;
  }
}

/** Replaces our own formats by their public names if there are any, and otherwise by a description. */
function publicFormat({ format, description }: JsonSchema): DocumentObject {
  if (typeof format !== "string" || !(format in FORMATS)) return {};
  const { sentence } = FORMATS[format as keyof typeof FORMATS];
  const name = format === "e-mail" ? "email" : format;
  return { format: name, ...(description === undefined && { description: `It ${sentence}.` }) };
}

function inOrder(entries: readonly (readonly [string, DocumentObject])[]): DocumentObject {
  return Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The part of a route that the document needs. A route without an action needs no token. */
export type DescribedRoute = Pick<Route, "method" | "path" | "operation"> & Partial<Pick<Route, "action">>;

/** `/v1/packages/:package` as OpenAPI writes it: `/v1/packages/{package}`. */
export function templateOf(path: string): string {
  return path.replace(/:(\w+)/g, "{$1}");
}

/** The names of a path's parameters, in order. */
export function parametersOf(path: string): string[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => name);
}

/** All paths of a route. The document describes the route under the first. */
export function wordedPaths({ path }: { path: string | readonly string[] }): readonly [string, ...string[]] {
  const [first, ...others] = typeof path === "string" ? [path] : path;
  if (first === undefined) throw new Error("a route has no path");
  return [first, ...others];
}

/** Whether an operation is a read of JSON, which has an `ETag` and can be answered with 304. */
export function isReadOfJson(method: string, { answers }: Operation): boolean {
  const answer = answers[200];
  return method === "GET" && answer?.schema !== undefined && answer.types === undefined;
}
