import type { Pool } from "pg";
import { isUuid } from "../../../schemas/formats.js";
import { parsePixelUpsert, PIXEL, PIXEL_UPSERT, type PixelUpsert } from "../../../schemas/contracts/pixel.js";
import { Problem } from "../../../schemas/problem.js";
import { invalidBody } from "../../../schemas/validate.js";
import { access } from "../../access.js";
import { ownerFor, pixelFor } from "../../authorise/authorise.js";
import { changedFields } from "../../answers/changed-fields.js";
import { entityTag, requireMatch } from "../../answers/entity-tag.js";
import { readJson } from "../../middleware/read-json.js";
import { pageBody, parsePage } from "../../answers/paging.js";
import { putLocation } from "../../answers/put-location.js";
import { route, type Call, type Route } from "../../route.js";
import type { Account } from "../../stores/accounts/accounts.js";
import { inTransaction } from "../../stores/connection.js";
import { lockOwner } from "../../stores/accounts/organizations.js";
import { readPackage, type PackageRow } from "../../stores/packages/packages.js";
import {
  deletePixel,
  insertPixel,
  listPixelsOfOwner,
  pixelRecord,
  updatePixel,
  type PixelRow,
} from "../../stores/packages/pixels.js";
import type { Postgres } from "../../stores/query.js";

const SENT = { name: "Handbook", package_id: "01a1fbad-ca48-70ed-9525-6dc0dcdf7c27" };
const EXAMPLE = {
  id: "01a1fbad-cab4-710c-82a1-b3f3576e59e4",
  owner: "acme",
  ...SENT,
  created_at: "2026-08-04T13:58:26.021037Z",
  updated_at: "2026-08-04T13:58:26.021037Z",
};
const BODY = { schema: PIXEL_UPSERT, example: SENT };
const ANSWER = { description: "The pixel", schema: PIXEL, example: EXAMPLE };
const PAGE = {
  description: "Pixels, newest first; `next` is the URL of the next page, where there is one",
  schema: {
    title: "PixelList",
    type: "object",
    required: ["pixels"],
    additionalProperties: false,
    properties: { pixels: { type: "array", items: PIXEL }, next: { type: "string", format: "uri" } },
  },
  example: { pixels: [EXAMPLE] },
};
const PAGING = {
  after: { schema: { type: "string", format: "uuid" }, description: "The id behind which the page begins" },
  per_page: {
    schema: { type: "integer", minimum: 1, maximum: 1000, default: 100 },
    description: "How many entries a page has at most",
  },
};
const LIST_PATH = "/v2/pixels/:owner";
const PATH = "/v2/pixels/:owner/:pixel";

export function pixelRoutes({ pg }: { pg: Pool }): Route[] {
  return [
    route({
      method: "GET",
      path: LIST_PATH,
      action: "pixels.read",
      operation: {
        id: "listPixels",
        summary: "List the pixels of a user or an organization",
        query: PAGING,
        answers: { 200: PAGE },
      },
      async handle({ ctx, account, action, param }) {
        const page = parsePage(ctx.query);
        const owner = await ownerFor(pg, account, param("owner"), action);
        const rows = await listPixelsOfOwner(pg, { accountId: account.id, ownerId: owner.id, page });
        ctx.body = pageBody(ctx, { name: "pixels", rows, page, record: pixelRecord });
      },
    }),
    route({
      method: "POST",
      path: LIST_PATH,
      action: "pixels.create",
      operation: {
        id: "createPixel",
        summary: "Create a pixel",
        body: BODY,
        answers: { 201: ANSWER },
      },
      async handle(call) {
        const made = await createPixel(pg, call);
        call.ctx.status = 201;
        putLocation(call.ctx, `/v2/pixels/${encodeURIComponent(made.owner)}/${made.id}`);
        answer(call.ctx, made);
      },
    }),
    route({
      method: "GET",
      path: PATH,
      action: "pixels.read",
      operation: { id: "getPixel", summary: "Read a pixel", answers: { 200: ANSWER } },
      async handle({ ctx, account, action, param }) {
        answer(ctx, await pixelFor(pg, account, { owner: param("owner"), id: param("pixel"), action }));
      },
    }),
    route({
      method: "PUT",
      path: PATH,
      action: "pixels.update",
      operation: {
        id: "updatePixel",
        summary: "Change a pixel",
        description: "A package that is left out is no longer associated.",
        body: BODY,
        answers: { 200: ANSWER },
        problems: ["precondition-failed"],
      },
      async handle(call) {
        answer(call.ctx, await changePixel(pg, call));
      },
    }),
    route({
      method: "DELETE",
      path: PATH,
      action: "pixels.delete",
      operation: {
        id: "deletePixel",
        summary: "Delete a pixel",
        description: "Its events leave the exports at once and are erased soon after.",
        answers: { 204: { description: "It is gone" } },
        problems: ["precondition-failed"],
      },
      async handle({ ctx, account, action, param, record }) {
        await inTransaction(pg, async (client) => {
          await lockOwner(client, param("owner"));
          const named = { owner: param("owner"), id: param("pixel"), action };
          const row = await pixelFor(client, account, named);
          requireMatch(ctx, entityTag(pixelRecord(row)));
          await requireSeen(client, account, row.packageId);
          await deletePixel(client, row.id);
          await record(client, { ownerId: row.ownerId, target: target(row) });
        });
        ctx.status = 204;
      },
    }),
  ];
}

async function createPixel(
  pg: Pool,
  { ctx, account, action, param, record }: Call<"pixels.create">,
): Promise<PixelRow> {
  const pixel = await readJson(ctx, parsePixelUpsert);
  return inTransaction(pg, async (client) => {
    await lockOwner(client, param("owner"));
    const owner = await ownerFor(client, account, param("owner"), action);
    await requirePackage(client, { account, ownerId: owner.id, owner: owner.name, pixel });
    const id = await insertPixel(client, { ownerId: owner.id, pixel });
    const made = await pixelFor(client, account, { owner: owner.name, id, action: "pixels.read" });
    await record(client, { ownerId: owner.id, target: target(made), changes: pixel });
    return made;
  });
}

async function changePixel(
  pg: Pool,
  { ctx, account, action, param, record }: Call<"pixels.update">,
): Promise<PixelRow> {
  const pixel = await readJson(ctx, parsePixelUpsert);
  return inTransaction(pg, async (client) => {
    await lockOwner(client, param("owner"));
    const before = await pixelFor(client, account, { owner: param("owner"), id: param("pixel"), action });
    requireMatch(ctx, entityTag(pixelRecord(before)));
    await requirePackage(client, { account, ...before, pixel });
    if (before.packageId !== pixel.package_id) await requireSeen(client, account, before.packageId);
    await updatePixel(client, { id: before.id, pixel });
    const named = { owner: before.owner, id: before.id, action: "pixels.read" } as const;
    const after = await pixelFor(client, account, named);
    const changes = changedFields(pixelRecord(before), pixelRecord(after));
    await record(client, { ownerId: after.ownerId, target: target(after), changes });
    return after;
  });
}

/**
 * A package's export contains its pixels' events, so that the package must belong to the same owner and be visible to
 * the caller.
 */
async function requirePackage(
  pg: Postgres,
  {
    account,
    ownerId,
    owner,
    pixel,
  }: { account: Account; ownerId: string; owner: string; pixel: PixelUpsert },
): Promise<void> {
  const id = pixel.package_id;
  if (id === undefined || id === null) return;
  const row = await readSeen(pg, account, id);
  if (row?.ownerId !== ownerId)
    throw invalidBody([{ path: "/package_id", message: `is not a package of ${owner}` }]);
}

/** Dissociating a pixel removes its events from the package's export, so that the caller must see the package. */
async function requireSeen(pg: Postgres, account: Account, packageId: string | null): Promise<void> {
  if (packageId === null || (await readSeen(pg, account, packageId)) !== undefined) return;
  throw new Problem("forbidden", "You may not take this pixel from its package, which you cannot see.");
}

/** The package of that id, if it exists and the caller sees it. */
async function readSeen(pg: Postgres, account: Account, id: string): Promise<PackageRow | undefined> {
  const row = isUuid(id) ? await readPackage(pg, { accountId: account.id, id }) : undefined;
  return row !== undefined && access(row, "packages.read", row) === "allowed" ? row : undefined;
}

function answer(ctx: Call["ctx"], row: PixelRow): void {
  ctx.set("ETag", entityTag(pixelRecord(row)));
  ctx.body = pixelRecord(row);
}

function target({ id, name }: PixelRow) {
  return { kind: "pixel", id, name } as const;
}
