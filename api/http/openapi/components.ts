import { FORMATS } from "../../../schemas/formats.js";
import type { JsonSchema } from "../operation.js";

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
