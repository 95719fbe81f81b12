import { request } from "node:http";

/** A page as a browser got it. Redirects are not followed. */
export interface SeenPage {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** The `Location` of a redirect; empty without one. */
  location: string;
  html: string;
}

/** Keeps cookies and sends what browsers send with links and forms. It runs no script. */
export interface Browser {
  /** By name. */
  cookies: Map<string, string>;
  /** `Set-Cookie` of the last answer that had it. */
  setCookies: string[];
  get(path: string, headers?: Record<string, string>): Promise<SeenPage>;
  post(path: string, fields: Record<string, string>, headers?: Record<string, string>): Promise<SeenPage>;
}

export interface BrowserOptions {
  /** Where the service listens. */
  url: string;
  /** Sent with every request, such as those of a proxy. */
  headers?: Record<string, string>;
  /** The origin of the service's pages, as the browser sees it. */
  origin?: string;
}

export function openBrowser({
  url,
  headers: always = {},
  origin = new URL(url).origin,
}: BrowserOptions): Browser {
  const cookies = new Map<string, string>();
  const send = async (method: string, path: string, body: string, headers: Record<string, string>) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const sent = { ...(cookie && { cookie }), ...always, ...headers };
    const seen = await ask(new URL(path, url), { method, headers: sent, body });
    const set = [seen.headers["set-cookie"] ?? []].flat();
    if (set.length > 0) browser.setCookies = set;
    for (const each of set) keep(cookies, each);
    return seen;
  };
  const browser: Browser = {
    cookies,
    setCookies: [],
    get: (path, headers = {}) => send("GET", path, "", headers),
    post: (path, fields, headers = {}) =>
      send("POST", path, new URLSearchParams(fields).toString(), {
        "content-type": "application/x-www-form-urlencoded",
        origin,
        "sec-fetch-site": "same-origin",
        ...headers,
      }),
  };
  return browser;
}

function keep(cookies: Map<string, string>, setCookie: string): void {
  const [pair = ""] = setCookie.split(";", 1);
  const [name = "", value = ""] = [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)];
  if (value === "" || /max-age=0/i.test(setCookie)) cookies.delete(name);
  else cookies.set(name, value);
}

interface Sent {
  method: string;
  headers: Record<string, string>;
  body: string;
}

/** Not `fetch`, which adds headers of its own and may not send all of these. An empty header is left out. */
function ask(url: URL, { method, headers, body }: Sent): Promise<SeenPage> {
  const given = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ""));
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, headers: given, agent: false }, (answer) => {
      const parts: Buffer[] = [];
      answer.on("data", (part: Buffer) => parts.push(part));
      answer.once("error", reject);
      answer.once("end", () => {
        const { statusCode: status = 0, headers } = answer;
        resolve({ status, headers, location: headers.location ?? "", html: Buffer.concat(parts).toString() });
      });
    });
    asked.once("error", reject);
    asked.end(body);
  });
}
