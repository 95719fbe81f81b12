import type { ApiContext } from "../route.js";

/** Says where a new record can be read back: `path` of the API, wherever the API is reached from outside. */
export function putLocation(ctx: ApiContext, path: string): void {
  ctx.set("Location", `${ctx.state.publicBase}${path}`);
}
