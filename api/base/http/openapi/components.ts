import { FORMATS } from "../../../../schemas/formats.js";
import type { JsonSchema, Parameter } from "../answers/query-parameters.js";
import type { AnswerContent, Operation, Route } from "../route.js";

export type DocumentObject = Record<string, unknown>;

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
  // A mailbox may have a name as well, which this does not rule out for who generates values.
  const name = format === "e-mail" || format === "mailbox" ? "email" : format;
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

export function parametersOf(path: string): string[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => name);
}

/** All paths of a route. The document describes the route under the first. */
export function wordedPaths({ path }: { path: string | readonly string[] }): readonly [string, ...string[]] {
  const [first, ...others] = typeof path === "string" ? [path] : path;
  if (first === undefined) throw new Error("a route has no path");
  return [first, ...others];
}

/** It has an `ETag` and can be answered with 304. */
export function isReadOfJson(method: string, { answers }: Operation): boolean {
  const answer = answers[200];
  return method === "GET" && answer?.schema !== undefined && answer.types === undefined;
}

export function describeAnswers(
  { method, operation }: { method: string; operation: Operation },
  components: Components,
): DocumentObject {
  const isRead = isReadOfJson(method, operation);
  const described = Object.entries(operation.answers).map(([status, answer]) => {
    const headers = { ...usualHeaders({ status: Number(status), isRead, answer }), ...answer.headers };
    return [status, describeAnswer({ ...answer, headers }, components)] as const;
  });
  const unchanged = { description: "Not modified", headers: { ETag: ENTITY_TAG } };
  return {
    ...Object.fromEntries(described),
    ...(isRead && { 304: components.response("NotModified", () => describeAnswer(unchanged, components)) }),
  };
}

const REQUEST_ID: Parameter = {
  schema: { type: "string" },
  required: true,
  description: "Id of the request, also in the server's log and in the audit log",
};

const RATE_LIMIT: Parameter = {
  schema: { type: "string" },
  description: "For each rate limit: the remaining requests (`r`), and the seconds until it resets (`t`)",
  example: '"address";r=1998;t=9, "account";r=498;t=9',
};

const RATE_LIMIT_POLICY: Parameter = {
  schema: { type: "string" },
  description: "For each rate limit: the allowed requests (`q`) per window (`w`, in seconds)",
  example: '"address";q=2000;w=10, "account";q=500;w=10',
};

/** On every response but those of health checks. */
export const USUAL_HEADERS = {
  "X-Request-Id": REQUEST_ID,
  RateLimit: RATE_LIMIT,
  "RateLimit-Policy": RATE_LIMIT_POLICY,
};

const ENTITY_TAG: Parameter = {
  schema: { type: "string" },
  description: "Changes whenever the record changes. Use it in `If-None-Match` and `If-Match`",
};

const LOCATION: Parameter = {
  schema: { type: "string", format: "uri-reference" },
  description: "Path of the created record, relative to the API's root",
};

function usualHeaders({
  status,
  isRead,
  answer,
}: {
  status: number;
  isRead: boolean;
  answer: AnswerContent;
}) {
  return {
    ...(status === 200 && isRead && { ETag: { ...ENTITY_TAG, required: true } }),
    ...([200, 201].includes(status) && !isRead && answer.schema && !answer.types && { ETag: ENTITY_TAG }),
    ...(status === 201 && { Location: LOCATION }),
  };
}

function describeAnswer(
  { description, schema, example, types = ["application/json"], headers = {}, others = {} }: AnswerContent,
  components: Components,
): DocumentObject {
  const named = Object.entries({ ...USUAL_HEADERS, ...headers });
  const content = schema && { schema: components.schema(schema), ...(example !== undefined && { example }) };
  return {
    description,
    headers: Object.fromEntries(
      named.map(([name, header]) => [name, describeHeader(name, header, components)]),
    ),
    ...(content && {
      content: {
        ...Object.fromEntries(types.map((type) => [type, content])),
        ...Object.fromEntries(
          Object.entries(others).map(([type, other]) => [
            type,
            { ...other, schema: components.schema(other.schema) },
          ]),
        ),
      },
    }),
  };
}

/** Headers that most answers have become components. `ETag` is one of two. */
export function describeHeader(name: string, header: Parameter, components: Components): DocumentObject {
  const shared = [...Object.values(USUAL_HEADERS), ENTITY_TAG, LOCATION].includes(header);
  return shared ? components.header(name, { ...header }) : { ...header };
}
