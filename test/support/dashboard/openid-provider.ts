import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";
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

/** A certified OpenID provider (the package `oidc-provider`), with a page to sign in that takes any password. */
export async function startOpenIdProvider(options: ProviderOptions): Promise<TestProvider> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: options.clientId,
        client_secret: options.clientSecret,
        redirect_uris: [options.redirectUri],
      },
    ],
    claims: { openid: ["sub"], email: ["email", "email_verified"] },
    pkce: { required: () => true },
    cookies: { keys: ["of a test"] },
    features: { devInteractions: { enabled: true } },
    findAccount: (_, login) => ({
      accountId: login,
      claims: async () => ({ sub: login, ...options.accounts[login] }),
    }),
  });
  const handle = provider.callback();
  server.on("request", (request, response) => void handle(request, response));
  return {
    issuer,
    visit: (url, login) => visit(issuer, { url, login }),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
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
