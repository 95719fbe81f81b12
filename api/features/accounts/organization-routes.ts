import type { Pool } from "pg";
import {
  ORGANIZATION_UPSERT,
  ORGANIZATION_V1,
  parseOrganizationUpsert,
} from "../../../schemas/contracts/organization.js";
import { ownerFor } from "../../base/access/authorise.js";
import { changedFields } from "../../base/access/audit-entries.js";
import { KIB } from "../../base/http/body-limits.js";
import { answerRecord, entityTag, putLocation, requireMatch } from "../../base/http/answers/headers.js";
import { readJson } from "../../base/http/middleware/read-json.js";
import { QUOTA_PROBLEMS, type Quotas, requireRoom } from "../../base/access/quotas.js";
import { type Route, route } from "../../base/http/route.js";
import { inTransaction } from "../../base/postgres/connection.js";
import {
  countOrganizationsMade,
  insertOrganization,
  readOrganization,
  updateOrganization,
} from "./organizations.js";
import { lockOwner, lockRenames } from "../../base/access/owners.js";

const SENT = {
  name: "acme",
  description: "Maintainers of the acme tools",
  website: "https://acme.example",
  billingEmail: "billing@acme.example",
};
const TIME = "2026-08-04T13:58:26.021037Z";
const RECORD = {
  description: "The organization",
  schema: ORGANIZATION_V1,
  example: { ...SENT, createdAt: TIME, updatedAt: TIME },
};
const BODY = { schema: ORGANIZATION_UPSERT, example: SENT, limits: { bytesMax: 80 * KIB } };

export function organizationRoutes({ pg, quotas }: { pg: Pool; quotas: Quotas }): Route[] {
  return [
    route({
      method: "POST",
      path: "/v1/organizations",
      action: "organization.create",
      operation: {
        id: "createOrganization",
        summary: "Create an organization",
        body: BODY,
        answers: { 201: RECORD },
        problems: ["already-exists", QUOTA_PROBLEMS.organizations],
      },
      async handle({ ctx, account, record }) {
        const organization = await readJson(ctx, parseOrganizationUpsert);
        const made = await inTransaction(pg, async (client) => {
          await lockOwner(client, account.username);
          const count = await countOrganizationsMade(client, account.id);
          requireRoom(quotas, "organizations", { name: account.username, count });
          const { id, ...made } = await insertOrganization(client, { organization, creatorId: account.id });
          await record(client, { ownerId: id, target: target(id, made.name), changes: organization });
          return made;
        });
        ctx.status = 201;
        putLocation(ctx, `/v1/organizations/${encodeURIComponent(made.name)}`);
        answerRecord(ctx, made);
      },
    }),
    route({
      method: "GET",
      path: "/v1/organizations/:organization",
      action: "organization.read",
      operation: {
        id: "getOrganization",
        summary: "Get an organization",
        answers: { 200: RECORD },
      },
      async handle({ ctx, account, action, param }) {
        const owner = await ownerFor(pg, account, param("organization"), action, { kind: "organization" });
        const read = await readOrganization(pg, owner.id);
        answerRecord(ctx, read);
      },
    }),
    route({
      method: "PUT",
      path: "/v1/organizations/:organization",
      action: "organization.update",
      operation: {
        id: "updateOrganization",
        summary: "Update an organization",
        description:
          "If you rename the organization, others can take the old name immediately. If `website` is omitted, " +
          "it is removed.",
        body: BODY,
        answers: { 200: RECORD },
        problems: ["already-exists", "precondition-failed"],
      },
      async handle({ ctx, account, action, param, record }) {
        const organization = await readJson(ctx, parseOrganizationUpsert);
        const updated = await inTransaction(pg, async (client) => {
          if (organization.name !== param("organization")) await lockRenames(client);
          await lockOwner(client, param("organization"));
          const owner = await ownerFor(client, account, param("organization"), action, {
            kind: "organization",
          });
          const before = await readOrganization(client, owner.id);
          requireMatch(ctx, entityTag(before));
          const after = await updateOrganization(client, { id: owner.id, organization });
          const changes = changedFields(before, after);
          await record(client, { ownerId: owner.id, target: target(owner.id, after.name), changes });
          return after;
        });
        answerRecord(ctx, updated);
      },
    }),
  ];
}

function target(id: string, name: string) {
  return { kind: "organization", id, name } as const;
}
