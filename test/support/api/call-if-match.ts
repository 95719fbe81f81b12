import type { ServedApi } from "./management-api.js";

interface MatchingCall {
  token: string;
  /** `METHOD /path`. */
  request: string;
  ifMatch: string;
  body?: unknown;
}

/** Calls the API with `If-Match` and answers the status and the code of the problem, if there is one. */
export async function callIfMatch(
  { url }: Pick<ServedApi, "url">,
  { token, request, ifMatch, body }: MatchingCall,
): Promise<{ status: number; code: string | undefined }> {
  const [method = "GET", path = "/"] = request.split(" ", 2);
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, "if-match": ifMatch },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, code: (JSON.parse(text || "{}") as { code?: string }).code };
}
