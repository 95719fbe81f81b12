import { parseOrganizationUpsert } from "../../schemas/organization.js";
import { ownerFor } from "../authorise.js";
import { readJson } from "../middleware/read-json.js";
import { route, type Route } from "../route.js";
import { insertOrganization, readOrganization } from "../stores/organizations.js";
import type { Postgres } from "../stores/query.js";

export function organizationRoutes({ pg }: { pg: Postgres }): Route[] {
  return [
    route({
      method: "POST",
      path: "/v1/organizations",
      action: "organization.create",
      async handle({ ctx, account }) {
        const organization = await readJson(ctx, parseOrganizationUpsert);
        const record = await insertOrganization(pg, { organization, creatorId: account.id });
        ctx.status = 201;
        ctx.set("Location", `/v1/organizations/${encodeURIComponent(record.name)}`);
        ctx.body = record;
      },
    }),
    route({
      method: "GET",
      path: "/v1/organizations/:organization",
      action: "organization.read",
      async handle({ ctx, account, action, param }) {
        const owner = await ownerFor(pg, account, param("organization"), action, { kind: "organization" });
        ctx.body = await readOrganization(pg, owner.id);
      },
    }),
  ];
}
