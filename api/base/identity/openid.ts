import type * as OpenIdClient from "openid-client";
import type { ClientAuth, Configuration, IDToken, UserInfoResponse } from "openid-client";
import type { Logger } from "pino";
import { Problem } from "../../../schemas/problem.js";

export interface OpenIdOptions {
  issuer: string;
  clientId: string;
  clientSecret: string;
}

/** What a sign-in remembers until the browser is back from the provider. */
export interface OpenIdAttempt {
  state: string;
  nonce: string;
  /** The verifier of PKCE (RFC 7636). */
  verifier: string;
}

/** Sign-in with an OpenID provider (OpenID Connect Core 1.0, code flow), whose settings are read at the first use. */
export class OpenIdProvider {
  private discovered: Promise<Configuration> | undefined;

  constructor(private readonly options: OpenIdOptions) {}

  /** The provider's host, for the button. */
  get name(): string {
    return new URL(this.options.issuer).host;
  }

  /** The address at the provider, and what `verifiedEmail` needs later. Throws `unavailable`. */
  async begin(returnUrl: string): Promise<{ url: string; attempt: OpenIdAttempt }> {
    const client = await import("openid-client");
    const configuration = await this.configuration();
    const verifier = client.randomPKCECodeVerifier();
    const attempt = { state: client.randomState(), nonce: client.randomNonce(), verifier };
    const url = client.buildAuthorizationUrl(configuration, {
      redirect_uri: returnUrl,
      scope: "openid email",
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      state: attempt.state,
      nonce: attempt.nonce,
    });
    return { url: url.href, attempt };
  }

  /** By the address that the browser came back to. Undefined if refused or not verified. Throws `unavailable`. */
  async verifiedEmail(
    returned: URL,
    { attempt, log }: { attempt: OpenIdAttempt; log: Logger },
  ): Promise<string | undefined> {
    const client = await import("openid-client");
    const configuration = await this.configuration();
    try {
      const answered = await client.authorizationCodeGrant(configuration, returned, {
        pkceCodeVerifier: attempt.verifier,
        expectedState: attempt.state,
        expectedNonce: attempt.nonce,
        idTokenExpected: true,
      });
      const claims = answered.claims();
      if (claims === undefined) return undefined;
      // Many providers put the address into the answer to a further request only.
      const inToken = verifiedEmailOf(claims);
      if (inToken !== undefined) return inToken;
      return verifiedEmailOf(await client.fetchUserInfo(configuration, answered.access_token, claims.sub));
    } catch (error) {
      if (!isRefusal(error, client)) throw this.unavailable(error);
      // Neither the error nor its cause: they may hold the code of the answer.
      log.info({ reason: codeOf(error), issuer: this.options.issuer }, "rejected an OpenID sign-in");
      return undefined;
    }
  }

  private configuration(): Promise<Configuration> {
    this.discovered ??= this.discover().catch((error: unknown) => {
      this.discovered = undefined;
      throw this.unavailable(error);
    });
    return this.discovered;
  }

  private async discover(): Promise<Configuration> {
    const client = await import("openid-client");
    const { issuer, clientId, clientSecret } = this.options;
    const url = new URL(issuer);
    // The configuration takes http only for a provider on this machine.
    const execute = url.protocol === "http:" ? [client.allowInsecureRequests] : [];
    const basic = client.ClientSecretBasic(clientSecret);
    const post = client.ClientSecretPost(clientSecret);
    // RFC 6749, section 2.3.1: every provider takes the first; some say that they take the second alone.
    const authenticate: ClientAuth = (server, ...sent) => {
      const { token_endpoint_auth_methods_supported: taken = [BASIC] } = server;
      return taken.includes(BASIC) ? basic(server, ...sent) : post(server, ...sent);
    };
    return client.discovery(url, clientId, clientSecret, authenticate, { execute, timeout: TIMEOUT_SECONDS });
  }

  private unavailable(cause: unknown): Problem {
    return new Problem(
      "unavailable",
      `${this.name} can't be reached at the moment. Try again in a few seconds.`,
      {
        retryAfterSeconds: 10,
        cause,
      },
    );
  }
}

const TIMEOUT_SECONDS = 10;
const BASIC = "client_secret_basic";

function verifiedEmailOf({
  email,
  email_verified: verified,
}: IDToken | UserInfoResponse): string | undefined {
  return typeof email === "string" && verified === true ? email : undefined;
}

/** Whether the provider answered and the answer does not sign anybody in. */
function isRefusal(error: unknown, client: typeof OpenIdClient): boolean {
  if (error instanceof client.ClientError) return error.code !== "OAUTH_TIMEOUT";
  return [
    client.AuthorizationResponseError,
    client.ResponseBodyError,
    client.WWWAuthenticateChallengeError,
  ].some((kind) => error instanceof kind);
}

function codeOf(error: unknown): string {
  const { code, error: answered } = error as { code?: unknown; error?: unknown };
  return [code, answered].filter((part) => typeof part === "string").join(" ");
}
