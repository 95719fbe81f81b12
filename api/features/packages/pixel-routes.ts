import type { Pool } from "pg";
import { PIXEL, PIXEL_UPSERT, type PixelRecord, parsePixelUpsert } from "../../../schemas/contracts/pixel.js";
import { ownerFor } from "../../base/access/authorise.js";
import type { Quotas } from "../../base/access/quotas.js";
import { type Resource, toOwner } from "../../base/http/resource.js";
import { listRoute } from "../../base/http/resource-lists.js";
import { createRoute, deleteRoute, getRoute, updateRoute } from "../../base/http/resource-routes.js";
import type { Route } from "../../base/http/route.js";
import { PACKAGE_PROBLEMS, PIXEL_PATH, deleteArtifact } from "./packages.js";
import {
  type PixelRow,
  countPixels,
  insertPixel,
  listPixelsOfOwner,
  pixelFor,
  pixelRecord,
  requireSeen,
  updatePixel,
  withPackageId,
} from "./pixels.js";

const SENT = { name: "Handbook", package_id: "01a1fbad-ca48-70ed-9525-6dc0dcdf7c27" };
const EXAMPLE = {
  id: "01a1fbad-cab4-710c-82a1-b3f3576e59e4",
  owner: "acme",
  ...SENT,
  created_at: "2026-08-04T13:58:26.021037Z",
  updated_at: "2026-08-04T13:58:26.021037Z",
};
const BODY = { schema: PIXEL_UPSERT, example: SENT };

interface PixelDeps {
  pg: Pool;
  quotas: Quotas;
}

export function pixelRoutes({ pg, quotas }: PixelDeps): Route[] {
  const resource = {
    pg,
    name: "pixel",
    plural: "pixels",
    path: "/v2/pixels/:owner",
    actions: {
      read: "pixels.read",
      create: "pixels.create",
      update: "pixels.update",
      delete: "pixels.delete",
    },
    schema: PIXEL,
    example: EXAMPLE,
    parameters: PIXEL_PATH,
    problems: PACKAGE_PROBLEMS,
    admit: toOwner(ownerFor),
    list: listPixelsOfOwner,
    async find(client, { account, action, owner, id }) {
      const row = await pixelFor(client, account, { owner, idOrName: id, action });
      return { owner: { id: row.ownerId, name: row.owner }, row };
    },
    recordOf: pixelRecord,
    targetOf: ({ id, name }) => ({ kind: "pixel", id, name }),
  } as const satisfies Resource<PixelRow, PixelRecord>;
  return [
    listRoute(resource),
    createRoute(resource, {
      body: BODY,
      parse: parsePixelUpsert,
      quotas,
      count: countPixels,
      async insert(client, { call: { account }, owner, sent }) {
        const named = { account, ownerId: owner.id, owner: owner.name, sent };
        return insertPixel(client, { ownerId: owner.id, pixel: await withPackageId(client, named) });
      },
      changesOf: (sent, { package_id }) => (package_id === null ? sent : { ...sent, package_id }),
    }),
    getRoute(resource),
    updateRoute(resource, {
      summary: "Update a pixel",
      description: "If `package` is omitted, the pixel no longer belongs to a package.",
      body: BODY,
      parse: parsePixelUpsert,
      async apply(client, { call: { account }, before, sent }) {
        const pixel = await withPackageId(client, { account, ...before, sent });
        if (before.package_id !== pixel.package_id) await requireSeen(client, account, before.package_id);
        await updatePixel(client, { id: before.id, pixel });
      },
    }),
    deleteRoute(resource, {
      description: "Its events disappear from exports immediately and are erased soon afterwards.",
      async delete(client, { id, package_id: packageId }, { account }) {
        await requireSeen(client, account, packageId);
        await deleteArtifact(client, "pixels", id);
      },
      changesOf: () => undefined,
    }),
  ];
}
