import type { UserV1 } from "../../schemas/contracts/user.js";
import type { ApiContext } from "../base/http/route.js";
import { addressOf } from "./address.js";
import { assetPath } from "./assets/asset-files.js";
import { callApi } from "./call-api.js";
import type { Viewer, Visit, VisitedOwner } from "./page.js";

/** A visit of which nothing is known yet: enough for an error page. */
export function bareVisit(ctx: ApiContext): Visit {
  const { publicBase } = ctx.state;
  const known: Visit["known"] = {};
  return {
    ctx,
    known,
    get user() {
      return present(known.user, "the page needs a session");
    },
    get owner() {
      return present(known.owner, "the page's path has no :owner");
    },
    here: ctx.path.replace(/^\/dashboard/, ""),
    query: new URLSearchParams(ctx.querystring),
    param: (name) => present(paramsOf(ctx)[name], `the page's path has no :${name}`),
    api: (call) => callApi(ctx, call),
    href: (pathname, query) => addressOf(publicBase, pathname, query),
    asset: (name) => addressOf(publicBase, assetPath(name)),
  };
}

export async function openVisit(visit: Visit): Promise<void> {
  if (visit.ctx.state.session === undefined) return;
  const user = await visit.api<UserV1>({ path: "/v1/user" });
  visit.known.user = user;
  const name = paramsOf(visit.ctx)["owner"];
  if (name !== undefined) visit.known.owner = ownerNamed(name, user);
}

/** An owner to whom the viewer has no relation may have packages that the viewer may see. The API decides. */
export function ownerNamed(name: string, { username, organizations, exportEnabled }: Viewer): VisitedOwner {
  const isNamed = (other: string) => other.toLowerCase() === name.toLowerCase();
  if (isNamed(username)) return { name: username, kind: "user", role: "owner", mayExport: exportEnabled };
  const organization = organizations.find((each) => isNamed(each.name));
  if (organization === undefined) return { name, kind: "organization", role: "none", mayExport: false };
  const { role } = organization;
  const mayExport = organization.exportEnabled && role !== "member";
  return { name: organization.name, kind: "organization", role, mayExport };
}

function paramsOf(ctx: ApiContext): Record<string, string | undefined> {
  return (ctx["params"] ?? {}) as Record<string, string | undefined>;
}

function present<Value>(value: Value | undefined, otherwise: string): Value {
  if (value === undefined) throw new Error(otherwise);
  return value;
}
