import { openBrowser, type SeenPage as Seen } from "./open-browser.js";

/** A page as somebody without script sees it. */
export interface ReadPage extends Seen {
  /** The text of the document, with single spaces. */
  text: string;
}

/** A browser without script that is signed in. Paths are those below `/dashboard`. */
export interface Visitor {
  get: (path: string) => Promise<ReadPage>;
  /** Sends a form, as the page of that path would. */
  post: (path: string, fields: Record<string, string>) => Promise<ReadPage>;
  /** Sends a form and follows its redirect. */
  submit: (path: string, fields: Record<string, string>) => Promise<ReadPage>;
  /** Any request, with the session. */
  request: (path: string, init?: RequestInit) => Promise<Response>;
}

/** Signs in at a running service by the form, with an API token. */
export async function visit(
  url: string,
  { username, token }: { username: string; token: string },
): Promise<Visitor> {
  const browser = openBrowser({ url });
  const fields = { action: "sign-in", username, secret: token, to: "" };
  const signedIn = await browser.post("/dashboard/sign-in", fields);
  if (signedIn.status !== 303) throw new Error(`sign-in was answered ${signedIn.status}`);
  const get = async (path: string) => read(await browser.get(`/dashboard${path}`));
  const post = async (path: string, sent: Record<string, string>) =>
    read(await browser.post(`/dashboard${path}`, sent));
  return {
    get,
    post,
    async submit(path, sent) {
      const page = await post(path, sent);
      return page.location === "" ? page : get(page.location.replace(/^.*?\/dashboard/, ""));
    },
    request: (path, init = {}) => {
      const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
      const given = init.headers as Record<string, string> | undefined;
      const headers = { "Sec-Fetch-Site": "same-origin", cookie, ...given };
      return fetch(`${url}/dashboard${path}`, { ...init, headers });
    },
  };
}

function read(page: Seen): ReadPage {
  const body = page.html.slice(page.html.indexOf("<body"));
  const text = body
    .replace(/<[^>]*>/g, " ")
    .replace(/&(lt|gt|amp|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? "");
  return { ...page, text: text.replace(/\s+/g, " ").trim() };
}

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', "#39": "'" };
