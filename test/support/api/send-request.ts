import { PARAMETERS, type Place } from "./access-place.js";
import type { TabledRequest } from "./access-requests.js";
import type { ServedApi } from "./management-api.js";

interface Sent {
  /** The caller's own where none is given; no header at all where it is empty. */
  token?: string;
  headers?: Record<string, string>;
}

export interface Answered {
  /** `200`, or with its code: `404 not-found`. */
  outcome: string;
  requestId: string;
}

export async function sendRequest(
  { url }: Pick<ServedApi, "url">,
  request: TabledRequest,
  { place, token = place.caller.token, headers = {} }: Sent & { place: Place },
): Promise<Answered> {
  const body = request.body?.(place);
  const response = await fetch(url + (await pathOf(request, place)), {
    method: request.route.method,
    headers: { ...(token !== "" && { authorization: `Bearer ${token}` }), ...request.headers, ...headers },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const code = response.ok ? "" : ` ${(JSON.parse(text) as { code: string }).code}`;
  const requestId = response.headers.get("x-request-id") ?? "";
  return { outcome: `${response.status}${code}`, requestId };
}

/** Whether an outcome is the success of the operation. */
export function isSuccess({ route }: TabledRequest, outcome: string): boolean {
  return outcome in route.operation.answers;
}

/** With its query; what the path names and is not there yet is made. */
export async function pathOf({ route, path = {}, query }: TabledRequest, place: Place): Promise<string> {
  const parts = String(route.path)
    .split(/(:\w+)/)
    .map(async (part) => {
      const parameter = part.startsWith(":") ? part.slice(1) : undefined;
      return parameter === undefined ? part : (path[parameter] ?? PARAMETERS[parameter])?.(place);
    });
  return (await Promise.all(parts)).join("") + (query?.(place) ?? "");
}
