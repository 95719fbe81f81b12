import type { Middleware } from "koa";
import { Problem } from "../../schemas/problem.js";
import type { ApiState } from "../route.js";
import { readAccountByTokenHash, type Account } from "../stores/accounts.js";
import type { Postgres } from "../stores/query.js";
import { looksLikeToken, type TokenCipher } from "../tokens.js";

/**
 * Everything under `/v1` and `/v2` needs `Authorization: Bearer <token>`, also what does not exist. One message for
 * every reason, so that nothing can be learnt from it.
 */
export function authenticate({ pg, tokens }: { pg: Postgres; tokens: TokenCipher }): Middleware<ApiState> {
  return async (ctx, next) => {
    if (/^\/v[12](\/|$)/.test(ctx.path)) {
      ctx.state.account = await accountOf(ctx.get("Authorization"), { pg, tokens });
    }
    await next();
  };
}

async function accountOf(
  authorization: string,
  { pg, tokens }: { pg: Postgres; tokens: TokenCipher },
): Promise<Account> {
  const token = /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? "";
  const account = looksLikeToken(token) ? await readAccountByTokenHash(pg, tokens.hash(token)) : undefined;
  if (account === undefined || !tokens.matches(token, account.tokenHash)) {
    throw new Problem("unauthenticated", "A valid token is needed: Authorization: Bearer <token>.");
  }
  return { id: account.id, username: account.username };
}
