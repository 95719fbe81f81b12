import type { Middleware } from "koa";
import { Problem } from "../../../../schemas/problem.js";
import { clientAddress, inProcessCaller } from "../../identity/client-address.js";
import type { FailedTokens } from "../../identity/failure-limits.js";
import { LastUsed } from "../../identity/sessions.js";
import type { ApiContext, ApiState, RequireCaller } from "../route.js";
import { type AccountByToken, readAccountByTokenHash } from "../../identity/stored-accounts.js";
import { updateLastUsed } from "../../identity/api-tokens.js";
import type { Postgres } from "../../postgres/query.js";
import { type TokenCipher, looksLike } from "../../identity/tokens.js";

export interface AuthenticateDeps {
  pg: Postgres;
  tokens: TokenCipher;
  trustsProxy: (address: string) => boolean;
  failed: FailedTokens;
}

/**
 * Requires `Authorization: Bearer <token>` on every path under `/v1`, `/v2` and `/mcp`, also on unknown paths. Every refusal
 * has the same message, so that callers learn nothing from it. After many wrong tokens an address is refused for a
 * while before any lookup. A request without a token is not counted, because it needs no lookup. A request that already
 * has its account, from a session of the dashboard, needs no token.
 */
export function authenticate({ pg, tokens, trustsProxy, failed }: AuthenticateDeps): Middleware<ApiState> {
  const lastUsed = new LastUsed((id) => updateLastUsed(pg, id));
  return async (ctx, next) => {
    const caller = inProcessCaller(ctx.req);
    if (caller !== undefined) Object.assign(ctx.state, caller);
    if (ctx.state.account === undefined && needsToken(ctx)) {
      const address = clientAddress(ctx.req, trustsProxy);
      const { found, again } = await accountOf(ctx.get("Authorization"), { address, pg, tokens, failed });
      const { usedLongAgo, ...account } = found;
      ctx.state.account = account;
      ctx.state.requireCaller = again;
      if (account.limited && usedLongAgo) lastUsed.note(account.limited.id, ctx.state.log);
    }
    await next();
  };
}

/** Events of GitHub are signed instead: see `githubReleaseRoutes`. */
export function needsToken({ method, path }: Pick<ApiContext, "method" | "path">): boolean {
  if (method === "POST" && /^\/v2\/[^/]+\/annotations\/github$/.test(path)) return false;
  return /^\/(v[12]|mcp)(\/|$)/.test(path);
}

interface Authenticating {
  address: string;
  pg: Postgres;
  tokens: TokenCipher;
  failed: FailedTokens;
}

async function accountOf(
  authorization: string,
  { address, pg, tokens, failed }: Authenticating,
): Promise<{ found: AccountByToken; again: RequireCaller }> {
  if (authorization === "") throw unauthenticated();
  const token = /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? "";
  const tokenHash = looksLike("token", token) ? tokens.hash(token) : undefined;
  const find = async (from: Postgres) => {
    const found = tokenHash && (await readAccountByTokenHash(from, tokenHash));
    return found && tokens.matches(token, found.tokenHash) ? found : undefined;
  };
  const sentence = () => "Too many invalid tokens from your IP address. Try again later.";
  const found = await failed.lookUp({ address, tokenHash }, { find: () => find(pg), sentence });
  return { found: required(found), again: async (from) => required(await find(from)) };
}

function required(found: AccountByToken | undefined): AccountByToken {
  if (found === undefined) throw unauthenticated();
  return found;
}

function unauthenticated(): Problem {
  return new Problem("unauthenticated", "Send a valid token: Authorization: Bearer <token>.");
}
