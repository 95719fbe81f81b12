import type { ApiContext } from "../route.js";

/** Sets `Location` to the URL of a new record, as callers reach the API. */
export function putLocation(ctx: ApiContext, path: string): void {
  ctx.set("Location", `${ctx.state.publicBase}${path}`);
}
