import type { Pool } from "pg";
import { PIXEL, PIXEL_UPSERT, parsePixelUpsert } from "../../schemas/contracts/pixel.js";
import type { PixelAction } from "../access/resources.js";
import { ownerFor } from "../access/authorise.js";
import { PACKAGE_PROBLEMS, PIXEL_PATH } from "../packages/packages.js";
import {
  type PixelRow,
  countPixels,
  deletePixel,
  insertPixel,
  listPixelsOfOwner,
  pixelFor,
  pixelRecord,
  requireSeen,
  updatePixel,
  withPackageId,
} from "./pixels.js";
import { changedFields } from "../access/audit-entries.js";
import { answerRecord, entityTag, putLocation, requireMatch } from "../http/answers/headers.js";
import { readJson } from "../http/middleware/read-json.js";
import { PAGE_QUERY, pageAnswer, pageBody, pageOf } from "../http/answers/paging.js";
import { QUOTA_PROBLEMS, type Quotas, requireRoom } from "../access/quotas.js";
import { type Call, type Route, route } from "../http/route.js";
import { inTransaction } from "../postgres/connection.js";
import { lockOwner } from "../access/owners.js";

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
const LIST_PATH = "/v2/pixels/:owner";
const PATH = "/v2/pixels/:owner/:pixel";

interface PixelDeps {
  pg: Pool;
  quotas: Quotas;
}

export function pixelRoutes({ pg, quotas }: PixelDeps): Route[] {
  return [
    route({
      method: "GET",
      path: LIST_PATH,
      action: "pixels.read",
      operation: {
        id: "listPixels",
        summary: "List pixels",
        query: PAGE_QUERY,
        answers: {
          200: pageAnswer({
            name: "pixels",
            record: PIXEL,
            example: EXAMPLE,
            title: "PixelList",
            description: "Pixels, newest first",
          }),
        },
      },
      async handle({ ctx, account, action, query, param }) {
        const page = pageOf(query);
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
        problems: [...PACKAGE_PROBLEMS, QUOTA_PROBLEMS.pixels],
      },
      async handle(call) {
        const made = await createPixel({ pg, quotas }, call);
        call.ctx.status = 201;
        putLocation(call.ctx, `/v2/pixels/${encodeURIComponent(made.owner)}/${made.id}`);
        answerRecord(call.ctx, pixelRecord(made));
      },
    }),
    route({
      method: "GET",
      path: PATH,
      action: "pixels.read",
      operation: {
        id: "getPixel",
        summary: "Get a pixel",
        path: PIXEL_PATH,
        answers: { 200: ANSWER },
        problems: PACKAGE_PROBLEMS,
      },
      async handle({ ctx, account, action, param }) {
        answerRecord(ctx, pixelRecord(await pixelFor(pg, account, namedBy({ action, param }))));
      },
    }),
    route({
      method: "PUT",
      path: PATH,
      action: "pixels.update",
      operation: {
        id: "updatePixel",
        summary: "Update a pixel",
        description: "If `package` is omitted, the association is removed.",
        path: PIXEL_PATH,
        body: BODY,
        answers: { 200: ANSWER },
        problems: [...PACKAGE_PROBLEMS, "precondition-failed"],
      },
      async handle(call) {
        answerRecord(call.ctx, pixelRecord(await changePixel(pg, call)));
      },
    }),
    route({
      method: "DELETE",
      path: PATH,
      action: "pixels.delete",
      operation: {
        id: "deletePixel",
        summary: "Delete a pixel",
        description: "Its events disappear from exports immediately and are erased soon afterwards.",
        path: PIXEL_PATH,
        answers: { 204: { description: "Pixel deleted" } },
        problems: [...PACKAGE_PROBLEMS, "precondition-failed"],
      },
      async handle({ ctx, account, action, param, record }) {
        await inTransaction(pg, async (client) => {
          await lockOwner(client, param("owner"));
          const row = await pixelFor(client, account, namedBy({ action, param }));
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
  { pg, quotas }: PixelDeps,
  { ctx, account, action, param, record }: Call<"pixels.create">,
): Promise<PixelRow> {
  const sent = await readJson(ctx, parsePixelUpsert);
  return inTransaction(pg, async (client) => {
    await lockOwner(client, param("owner"));
    const owner = await ownerFor(client, account, param("owner"), action);
    requireRoom(quotas, "pixels", { name: owner.name, count: await countPixels(client, owner.id) });
    const pixel = await withPackageId(client, { account, ownerId: owner.id, owner: owner.name, sent });
    const id = await insertPixel(client, { ownerId: owner.id, pixel });
    const made = await pixelFor(client, account, { owner: owner.name, idOrName: id, action: "pixels.read" });
    await record(client, { ownerId: owner.id, target: target(made), changes: pixel });
    return made;
  });
}

async function changePixel(
  pg: Pool,
  { ctx, account, action, param, record }: Call<"pixels.update">,
): Promise<PixelRow> {
  const sent = await readJson(ctx, parsePixelUpsert);
  return inTransaction(pg, async (client) => {
    await lockOwner(client, param("owner"));
    const before = await pixelFor(client, account, namedBy({ action, param }));
    requireMatch(ctx, entityTag(pixelRecord(before)));
    const pixel = await withPackageId(client, { account, ...before, sent });
    if (before.packageId !== pixel.package_id) await requireSeen(client, account, before.packageId);
    await updatePixel(client, { id: before.id, pixel });
    const named = { owner: before.owner, idOrName: before.id, action: "pixels.read" } as const;
    const after = await pixelFor(client, account, named);
    const changes = changedFields(pixelRecord(before), pixelRecord(after));
    await record(client, { ownerId: after.ownerId, target: target(after), changes });
    return after;
  });
}

function namedBy<Named extends PixelAction>({ action, param }: Pick<Call<Named>, "action" | "param">) {
  return { owner: param("owner"), idOrName: param("pixel"), action };
}

function target({ id, name }: PixelRow) {
  return { kind: "pixel", id, name } as const;
}
