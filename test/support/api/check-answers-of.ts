import type { OpenApiDocument } from "../../../api/http/openapi/build-document.js";
import { answerCheck, type AnswerCheck, type SeenAnswer } from "./check-answer.js";

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
