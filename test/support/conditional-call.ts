import type { ServedApi } from "./management-api.js";

/** `request` is `METHOD /path`, sent with an `If-Match` of that tag. Answers the status and the error code. */
export async function callIfMatch(
  api: ServedApi,
  { token, request, tag, body }: { token: string; request: string; tag: string; body?: unknown },
): Promise<{ status: number; code: unknown }> {
  const [method = "GET", path = "/"] = request.split(" ", 2);
  const headers = { authorization: `Bearer ${token}`, "if-match": tag };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(api.url + path, { method, headers, ...sent });
  const text = await response.text();
  return {
    status: response.status,
    code: text === "" ? undefined : (JSON.parse(text) as { code?: string }).code,
  };
}
