import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { openBrowser, type SeenPage } from "./open-browser.js";

export interface TestProvider extends AsyncDisposable {
  issuer: string;
  /**
   * What a person does whom the service has sent there: signs in as `login` and consents. Answers the address with which
   * the provider sends the browser back.
   */
  visit(url: string, login: string): Promise<URL>;
}

export interface ProviderOptions {
  clientId: string;
  clientSecret: string;
  redirectUri: string;
  /** The claims of its accounts by their logins. */
  accounts: Record<string, { email: string; email_verified: boolean }>;
}

/** Starts `openid-server.ts`, a certified provider, in a process of its own. */
export async function startOpenIdProvider(options: ProviderOptions): Promise<TestProvider> {
  const program = fileURLToPath(new URL("./openid-server.ts", import.meta.url));
  const server = fork(program, [JSON.stringify(options)], {
    execArgv: ["--import", "tsx"],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const gone = once(server, "exit");
  const ended = gone.then(() => Promise.reject(new Error("the OpenID provider ended")));
  const [issuer] = (await Promise.race([once(server, "message"), ended])) as [string];
  return {
    issuer,
    visit: (url, login) => visit(issuer, { url, login }),
    [Symbol.asyncDispose]: async () => {
      server.kill();
      await gone;
    },
  };
}

async function visit(issuer: string, { url, login }: { url: string; login: string }): Promise<URL> {
  const browser = openBrowser({ url: issuer });
  let seen = await follow(browser.get(url), issuer, browser);
  for (const prompt of ["login", "consent"]) {
    const [, action = ""] = /<form[^>]* action="([^"]+)"/.exec(seen.html) ?? [];
    seen = await follow(browser.post(action, { prompt, login, password: "any" }), issuer, browser);
  }
  return new URL(seen.location);
}

/** Follows redirects as long as they stay with the provider. */
async function follow(
  asked: Promise<SeenPage>,
  issuer: string,
  browser: ReturnType<typeof openBrowser>,
): Promise<SeenPage> {
  let seen = await asked;
  while (seen.location !== "" && new URL(seen.location, issuer).origin === issuer)
    seen = await browser.get(seen.location);
  return seen;
}
