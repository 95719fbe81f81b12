import { Problem, type ProblemCode } from "../../schemas/problem.js";
import { type BodyLimits, requireFewFields } from "../base/http/body-limits.js";
import { readBody } from "../base/http/middleware/read-json.js";
import type { ApiContext } from "../base/http/route.js";

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

  has(name: string): boolean {
    return this.#fields.has(name);
  }

  /** Which of the page's forms it is: its field `action`, or the button's. */
  get action(): string {
    return this.text("action");
  }
}

export interface FormLimits extends BodyLimits {
  /** Whether a form of the page has files. */
  hasFiles?: boolean;
}

/**
 * Reads a form, its files included. Throws `too-large` and `invalid-body` above the limits, and `unsupported-encoding` for
 * another type of body.
 */
export function readForm(ctx: ApiContext, limits: FormLimits): Promise<Form> {
  ctx.state.bodyLimits = limits;
  const { valuesMax, hasFiles = false } = limits;
  if (hasFiles && ctx.is("multipart/form-data"))
    return readBody(ctx, (bytes) => readFiles(bytes, { contentType: ctx.get("Content-Type"), valuesMax }));
  return readBody(ctx, (bytes) => {
    if (bytes.length > 0 && !ctx.is("application/x-www-form-urlencoded"))
      throw new Problem(
        "unsupported-encoding",
        "The form must be sent as application/x-www-form-urlencoded.",
      );
    requireFewFields(bytes, { valuesMax, separator: "&" });
    return new Form(new URLSearchParams(bytes.toString("utf8")));
  });
}

interface Parts {
  contentType: string;
  valuesMax: number;
}

async function readFiles(bytes: Buffer, parts: Parts): Promise<Form> {
  const fields = new URLSearchParams();
  const files = new Map<string, SentFile>();
  for (const [name, value] of await partsOf(bytes, parts)) {
    if (typeof value === "string") fields.append(name, value);
    // Browsers send an empty part where no file was chosen.
    else if (value.name !== "")
      files.set(name, { name: value.name, bytes: Buffer.from(await value.arrayBuffer()) });
  }
  return new Form(fields, files);
}

async function partsOf(bytes: Buffer, { contentType, valuesMax }: Parts): Promise<FormData> {
  const [, boundary] = /;\s*boundary="?([\w'()+,./:=?-]{1,70})"?\s*(?:;|$)/i.exec(contentType) ?? [];
  if (boundary === undefined)
    throw new Problem("malformed-request", "The form's Content-Type has no boundary.");
  requireFewFields(bytes, { valuesMax, separator: `--${boundary}` });
  try {
    const headers = { "Content-Type": contentType };
    return await new Response(new Uint8Array(bytes), { headers }).formData();
  } catch (cause) {
    throw new Problem("malformed-request", "The form is not valid multipart/form-data.", { cause });
  }
}

/** The heading of the list of a form's errors. */
export const NOTHING_SAVED = "Nothing was saved. Check these fields:";

/** A page is older than the program that takes its forms, or the form is made up. */
export const UNKNOWN_FORM = "Unknown form. Reload the page and try again.";

/** Rejects a form whose field does not hold the word that confirms it. */
export function requireTyped(form: Form, { field, word }: { field: string; word: string }): void {
  if (form.text(field) === word) return;
  throw new Problem("invalid-body", NOTHING_SAVED, {
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
    throw new Problem(code, NOTHING_SAVED, {
      errors: [{ path: `/${field}`, message }],
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
      cause: error,
    });
  }
}
