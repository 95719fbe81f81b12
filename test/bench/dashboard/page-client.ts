import { Agent, request, type IncomingHttpHeaders } from "node:http";
import { gunzipSync } from "node:zlib";
import { buffer } from "node:stream/consumers";

/** A browser without a screen: one session, connections that stay open, packed answers. */
export interface PageClient extends Disposable {
  /** That of the session, for other clients. */
  readonly cookie: string;
  get(path: string): Promise<Answer>;
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  /** As it came over the wire. */
  bytes: number;
  text: string;
}

const CONNECTIONS_MAX = 64;

/** Signs in with the account's token. */
export async function openPageClient(
  url: string,
  { username, token }: { username: string; token: string },
): Promise<PageClient> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS_MAX });
  const form = new URLSearchParams({ action: "sign-in", username, secret: token }).toString();
  const { headers, status } = await send(agent, new URL("/dashboard/sign-in", url), {
    method: "POST",
    body: form,
    headers: { "Content-Type": "application/x-www-form-urlencoded", Origin: new URL(url).origin },
  });
  const cookie = (headers["set-cookie"] ?? []).map((each) => each.split(";", 1)[0]).join("; ");
  if (status !== 303 || cookie === "") throw new Error(`sign-in was answered with ${status}`);
  const sent = { Cookie: cookie, "Accept-Encoding": "gzip", Accept: "text/html" };
  return {
    cookie,
    get: (path) => send(agent, new URL(path, url), { method: "GET", headers: sent }),
    [Symbol.dispose]: () => agent.destroy(),
  };
}

interface Sent {
  method: string;
  headers: Record<string, string>;
  body?: string;
}

function send(agent: Agent, url: URL, { method, headers, body }: Sent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sending = request(url, { agent, method, headers }, (answer) => {
      const { statusCode: status = 0, headers } = answer;
      const read = (all: Buffer) => {
        const plain = headers["content-encoding"] === "gzip" ? gunzipSync(all) : all;
        return { status, headers, bytes: all.length, text: plain.toString() };
      };
      buffer(answer).then(read).then(resolve, reject);
    });
    sending.once("error", reject);
    sending.end(body);
  });
}
