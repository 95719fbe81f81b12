import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { OpenApiDocument } from "../../../api/base/http/openapi/build-document.js";
import { PROBLEM } from "../../../schemas/problem.js";

/** One answer of the API, as a client saw it. */
export interface SeenAnswer {
  method: string;
  /** Without the query; percent-encoded. */
  path: string;
  status: number;
  headers: Headers;
  /** Its text; absent where it is checked line by line (`checkLines`), and for HEAD. */
  text?: string;
}

interface AnswerCheck {
  /** Throws where the document does not describe the answer. */
  check(answer: SeenAnswer): void;
  /** For answers of lines: throws where a line is not as the document says. Undefined where it says nothing. */
  checkLine(answer: SeenAnswer): ((line: string) => void) | undefined;
}

/**
 * Checks answers against an OpenAPI document: status, headers that are promised, content type, body. At a path that
 * the document does not have, and for a method that it does not have there, only refusals may be answered.
 */
export function answerCheck(document: OpenApiDocument): AnswerCheck {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, logger: false, allErrors: true });
  ajv.addSchema(document, ROOT);
  const isProblem = ajv.compile(PROBLEM);
  return {
    check(seen) {
      const at = placeOf(document, seen);
      if (at === undefined) {
        if (seen.status >= 400) requireValid(isProblem, jsonOf(seen), seen);
        else if (seen.method !== "OPTIONS") refuse(seen, "there is no such operation");
        return;
      }
      const { response, pointer } = responseAt(document, at, seen);
      requireHeaders(document, response, seen);
      const type = requireType(response, seen);
      const hasBody = seen.text !== undefined && seen.method !== "HEAD";
      if (type === undefined || !hasBody || !type.includes("/json")) return;
      const schema = `${ROOT}#${pointer}/content/${escaped(type)}/schema`;
      requireValid(compiled(ajv, schema), jsonOf(seen), seen);
    },
    checkLine(seen) {
      const at = placeOf(document, seen);
      if (at === undefined || seen.status !== 200) return undefined;
      const { response, pointer } = responseAt(document, at, seen);
      const type = typeOf(seen);
      const schema = response.content?.[type]?.schema;
      if (schema === undefined || !("type" in schema || "$ref" in schema)) return undefined;
      const validate = compiled(ajv, `${ROOT}#${pointer}/content/${escaped(type)}/schema`);
      return (line) => requireValid(validate, JSON.parse(line), seen);
    },
  };
}

const ROOT = "document";

interface ResponseObject {
  $ref?: string;
  headers?: Record<string, { $ref?: string; required?: boolean }>;
  content?: Record<string, { schema: object }>;
}

interface Place {
  template: string;
  method: string;
}

/** More literal paths come first, as in the router; HEAD is described by GET. */
function placeOf({ paths }: OpenApiDocument, { method, path }: SeenAnswer): Place | undefined {
  const asked = path.replace(/^\/v2\/tracking-pixels\//, "/v2/pixels/").replace(/(.)\/$/, "$1");
  const [template] = Object.keys(paths)
    .filter((each) => patternOf(each).test(asked))
    .sort((a, b) => literal(a) - literal(b));
  const named = method === "HEAD" ? "get" : method.toLowerCase();
  return template !== undefined && paths[template]?.[named] ? { template, method: named } : undefined;
}

function patternOf(template: string): RegExp {
  const parts = template.split(/\{\w+\}/).map(escapedText);
  return new RegExp(`^${parts.join("[^/]+")}$`);
}

function escapedText(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** The position of the first parameter; later is more literal. */
function literal(template: string): number {
  const index = template.indexOf("{");
  return index < 0 ? -Infinity : -index;
}

function responseAt(document: OpenApiDocument, { template, method }: Place, seen: SeenAnswer) {
  const pointer = `/paths/${escaped(template)}/${method}/responses/${seen.status}`;
  const response = at<ResponseObject>(document, pointer);
  if (response === undefined) refuse(seen, `the status is not described at ${template}`);
  if (response.$ref === undefined) return { response, pointer };
  const shared = response.$ref.slice(1);
  return { response: at<ResponseObject>(document, shared) ?? {}, pointer: shared };
}

function requireHeaders(document: OpenApiDocument, { headers = {} }: ResponseObject, seen: SeenAnswer): void {
  for (const [name, header] of Object.entries(headers)) {
    const { required } = header.$ref
      ? (at<{ required?: boolean }>(document, header.$ref.slice(1)) ?? {})
      : header;
    if (required && !seen.headers.has(name)) refuse(seen, `the header ${name} is missing`);
  }
}

/** The described content type; undefined where there is to be no body. */
function requireType({ content }: ResponseObject, seen: SeenAnswer): string | undefined {
  if (content === undefined) {
    if (seen.text) refuse(seen, `no body is described, and it has one: ${seen.text.slice(0, 200)}`);
    return undefined;
  }
  const type = typeOf(seen);
  if (!(type in content)) refuse(seen, `the content type "${type}" is not described`);
  return type;
}

function typeOf({ headers }: SeenAnswer): string {
  return headers.get("content-type")?.split(";")[0]?.trim() ?? "";
}

function jsonOf(seen: SeenAnswer): unknown {
  if (seen.text === undefined || seen.method === "HEAD") return { code: "", message: "" };
  try {
    return JSON.parse(seen.text) as unknown;
  } catch {
    return refuse(seen, `the body is not JSON: ${seen.text.slice(0, 200)}`);
  }
}

function compiled(ajv: Ajv2020, schema: string): ValidateFunction {
  return ajv.getSchema(schema) ?? ajv.compile({ $ref: schema });
}

function requireValid(validate: ValidateFunction, body: unknown, seen: SeenAnswer): void {
  if (validate(body)) return;
  const faults = (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  refuse(seen, `${faults.join("; ")} in ${JSON.stringify(body).slice(0, 1000)}`);
}

/** The value at a JSON pointer. */
function at<Value>(document: object, pointer: string): Value | undefined {
  const names = pointer.split("/").slice(1);
  const unescaped = names.map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
  return unescaped.reduce<unknown>(
    (value, name) => (value as Record<string, unknown> | undefined)?.[name],
    document,
  ) as Value | undefined;
}

function escaped(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

function refuse({ method, path, status }: SeenAnswer, reason: string): never {
  throw new Error(`${method} ${path} was answered ${status} against the OpenAPI document: ${reason}`);
}

/**
 * From now on every answer that `fetch` gets from the API at `url` is checked against the document that it serves:
 * one that contradicts it fails the test that asked. Lines of a stream are checked as they are read.
 */
export async function checkAnswersOf(url: string): Promise<void> {
  if (globalThis.fetch !== checkedFetch) {
    plainFetch = globalThis.fetch;
    globalThis.fetch = checkedFetch;
  }
  const text = await (await plainFetch(`${url}/openapi.json`)).text();
  const check = checksByDocument.get(text) ?? answerCheck(JSON.parse(text) as OpenApiDocument);
  checksByDocument.set(text, check);
  checksByOrigin.set(new URL(url).origin, check);
}

/** Another file may get a port of this one's for a server that has no document. */
export function stopCheckingAnswers(): void {
  checksByOrigin.clear();
}

let plainFetch = globalThis.fetch;
/** The program serves the same document again when it is started again; compiling it takes a moment. */
const checksByDocument = new Map<string, AnswerCheck>();
const checksByOrigin = new Map<string, AnswerCheck>();

const checkedFetch: typeof fetch = async (input, init) => {
  const response = await plainFetch(input, init);
  const { origin, pathname: path } = new URL(input instanceof Request ? input.url : input);
  const check = checksByOrigin.get(origin);
  // Pages are not part of the document.
  if (check === undefined || path.startsWith("/dashboard/")) return response;
  const { status, headers } = response;
  const seen = { method: init?.method ?? "GET", path, status, headers };
  if (/\bndjson\b/.test(headers.get("content-type") ?? "")) return checkedLines(response, { check, seen });
  const hasText = status >= 400 || /\bjson\b/.test(headers.get("content-type") ?? "");
  check.check(hasText && seen.method !== "HEAD" ? { ...seen, text: await response.clone().text() } : seen);
  return response;
};

/** Read as it comes: tests measure and break off such answers. */
function checkedLines(
  response: Response,
  { check, seen }: { check: AnswerCheck; seen: SeenAnswer },
): Response {
  check.check(seen);
  const checkLine = check.checkLine(seen);
  if (checkLine === undefined || response.body === null) return response;
  const decoder = new TextDecoder();
  let held = "";
  const lines = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(part, controller) {
      const [...whole] = (held + decoder.decode(part, { stream: true })).split("\n");
      held = whole.pop() ?? "";
      whole.forEach(checkLine);
      controller.enqueue(part);
    },
  });
  return new Response(response.body.pipeThrough(lines), response);
}
