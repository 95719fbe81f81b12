import { requireSession } from "../base/identity/sessions.js";
import { callOwnApi } from "../base/http/call-own-api.js";
import type { ApiContext } from "../base/http/route.js";
import { type Query, withQuery } from "./address.js";

export interface ApiCall {
  method?: "GET" | "POST" | "PUT" | "DELETE";
  /** `/v1/...` or `/v2/...`, encoded: see `path`. */
  path: string;
  query?: Query;
  /** Sent as JSON; bytes as they are. */
  body?: unknown;
}

/** Calls an operation of the API as the signed-in account: see `callOwnApi`. Throws `unauthenticated` without a session. */
export async function callApi<Answer>(ctx: ApiContext, { path, query, ...call }: ApiCall): Promise<Answer> {
  const { account } = requireSession(ctx.state.session);
  const caller = { account, requireCaller: ctx.state.requireCaller };
  return callOwnApi(ctx, caller, { ...call, url: withQuery(path, query) });
}
