import { isUuid } from "../../schemas/formats.js";
import { parsePixelUpsert, type PixelUpsert } from "../../schemas/pixel.js";
import { invalidBody } from "../../schemas/validate.js";
import { access } from "../access.js";
import { ownerFor, pixelFor, type Owner } from "../authorise.js";
import { readJson } from "../middleware/read-json.js";
import { pageBody, parsePage } from "../paging.js";
import { route, type Route } from "../route.js";
import type { Account } from "../stores/accounts.js";
import { readPackage } from "../stores/packages.js";
import { insertPixel, listPixelsOfOwner, pixelRecord } from "../stores/pixels.js";
import type { Postgres } from "../stores/query.js";

export function pixelRoutes({ pg }: { pg: Postgres }): Route[] {
  return [
    route({
      method: "GET",
      path: "/v2/pixels/:owner",
      action: "pixels.read",
      async handle({ ctx, account, action, param }) {
        const page = parsePage(ctx.query);
        const owner = await ownerFor(pg, account, param("owner"), action);
        const rows = await listPixelsOfOwner(pg, { accountId: account.id, ownerId: owner.id, page });
        ctx.body = pageBody(ctx, { name: "pixels", rows, page, record: pixelRecord });
      },
    }),
    route({
      method: "POST",
      path: "/v2/pixels/:owner",
      action: "pixels.create",
      async handle({ ctx, account, action, param }) {
        const owner = await ownerFor(pg, account, param("owner"), action);
        const pixel = await readJson(ctx, parsePixelUpsert);
        await requirePackage(pg, { account, owner, pixel });
        const id = await insertPixel(pg, { ownerId: owner.id, pixel });
        if (id === undefined) throw unknownPackage(owner);
        ctx.status = 201;
        ctx.set("Location", `/v2/pixels/${encodeURIComponent(owner.name)}/${id}`);
        ctx.body = pixelRecord(await pixelFor(pg, account, { owner: owner.name, id, action: "pixels.read" }));
      },
    }),
    route({
      method: "GET",
      path: "/v2/pixels/:owner/:pixel",
      action: "pixels.read",
      async handle({ ctx, account, action, param }) {
        const named = { owner: param("owner"), id: param("pixel"), action };
        ctx.body = pixelRecord(await pixelFor(pg, account, named));
      },
    }),
  ];
}

/** A pixel's events show up in its package's export, so the package must be the same owner's and the caller see it. */
async function requirePackage(
  pg: Postgres,
  { account, owner, pixel }: { account: Account; owner: Owner; pixel: PixelUpsert },
): Promise<void> {
  const id = pixel.package_id;
  if (id === undefined || id === null) return;
  const row = isUuid(id) ? await readPackage(pg, { accountId: account.id, id }) : undefined;
  const seen = row !== undefined && access(row, "packages.read", row) === "allowed";
  if (!seen || row.ownerId !== owner.id) throw unknownPackage(owner);
}

function unknownPackage(owner: Owner): Error {
  return invalidBody([{ path: "/package_id", message: `is not a package of ${owner.name}` }]);
}
