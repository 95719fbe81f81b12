import { Problem, type ProblemCode } from "../../schemas/problem.js";
import { readBody } from "../http/middleware/read-json.js";
import type { ApiContext } from "../http/route.js";

export interface SentFile {
  name: string;
  bytes: Buffer;
}

export class Form {
  readonly #fields: URLSearchParams;
  readonly #files: ReadonlyMap<string, SentFile>;

  constructor(fields: URLSearchParams, files: ReadonlyMap<string, SentFile> = new Map()) {
    this.#fields = fields;
    this.#files = files;
  }

  /** A chosen file; undefined where none was chosen. */
  file(name: string): SentFile | undefined {
    return this.#files.get(name);
  }

  /** The field without spaces at its ends; empty if it is absent. Line ends are `\n`. */
  text(name: string): string {
    return (this.#fields.get(name) ?? "").replaceAll("\r\n", "\n").trim();
  }

  /** As `text`, undefined if it is empty: for fields that a request leaves out. */
  optional(name: string): string | undefined {
    return this.text(name) || undefined;
  }

  /** Every value of a repeated field, such as checkboxes of one name. */
  all(name: string): string[] {
    return this.#fields.getAll(name);
  }

  /** Every field that is no file. */
  get fields(): [name: string, value: string][] {
    return [...this.#fields];
  }

  has(name: string): boolean {
    return this.#fields.has(name);
  }

  /** Which of the page's forms it is: its field `action`, or the button's. */
  get action(): string {
    return this.text("action");
  }
}

/** Reads a form of at most 1 MiB, its files included. Throws `unsupported-encoding` for another type of body. */
export async function readForm(ctx: ApiContext): Promise<Form> {
  const bytes = await readBody(ctx);
  if (ctx.is("multipart/form-data")) return readFiles(bytes, ctx.get("Content-Type"));
  if (bytes.length > 0 && !ctx.is("application/x-www-form-urlencoded"))
    throw new Problem("unsupported-encoding", "A form is sent as application/x-www-form-urlencoded.");
  return new Form(new URLSearchParams(bytes.toString("utf8")));
}

async function readFiles(bytes: Buffer, contentType: string): Promise<Form> {
  const fields = new URLSearchParams();
  const files = new Map<string, SentFile>();
  for (const [name, value] of await partsOf(bytes, contentType)) {
    if (typeof value === "string") fields.append(name, value);
    // Browsers send an empty part where no file was chosen.
    else if (value.name !== "")
      files.set(name, { name: value.name, bytes: Buffer.from(await value.arrayBuffer()) });
  }
  return new Form(fields, files);
}

async function partsOf(bytes: Buffer, contentType: string): Promise<FormData> {
  try {
    const headers = { "Content-Type": contentType };
    return await new Response(new Uint8Array(bytes), { headers }).formData();
  } catch (cause) {
    throw new Problem("malformed-request", "The form is not valid multipart/form-data.", { cause });
  }
}

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
