/**
 * An OpenID provider as a program of its own: `oidc-provider`, certified, with its page to sign in that takes any
 * password. Takes `ProviderOptions` as JSON, sends its issuer to its parent, and ends with it.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";
import type { ProviderOptions } from "./openid-provider.js";

const { clientId, clientSecret, redirectUri, accounts } = JSON.parse(
  process.argv[2] ?? "",
) as ProviderOptions;

const server = createServer();
await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const provider = new Provider(issuer, {
  clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: [redirectUri] }],
  claims: { openid: ["sub"], email: ["email", "email_verified"] },
  pkce: { required: () => true },
  cookies: { keys: ["of a test"] },
  features: { devInteractions: { enabled: true } },
  findAccount: (_, login) => ({
    accountId: login,
    claims: async () => ({ sub: login, ...accounts[login] }),
  }),
});
const handle = provider.callback();
server.on("request", (request, response) => void handle(request, response));
process.once("disconnect", () => process.exit());
process.send?.(issuer);
