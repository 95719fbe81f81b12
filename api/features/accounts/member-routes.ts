import type { Pool } from "pg";
import {
  ORGANIZATION_MEMBER_UPSERT,
  ORGANIZATION_MEMBER_V1,
  parseOrganizationMemberUpsert,
} from "../../../schemas/contracts/organization.js";
import { ownerFor } from "../../base/access/authorise.js";
import { listMembers, putMember, removeMember } from "./members.js";
import { entityTag } from "../../base/http/answers/headers.js";
import { LIST_QUERY, listAnswer, listPage } from "../../base/http/answers/paging.js";
import { readJson } from "../../base/http/middleware/read-json.js";
import { type Route, route } from "../../base/http/route.js";

const SENT = { username: "ada", role: "admin" };
const EXAMPLE = { organizationName: "acme", ...SENT };
const RECORD = { schema: ORGANIZATION_MEMBER_V1, example: EXAMPLE };
const MATCHED = "`If-Match` accepts the `ETag` of the member list.";

export function memberRoutes({ pg }: { pg: Pool }): Route[] {
  return [
    route({
      method: "GET",
      path: "/v1/organizations/:organization/users",
      action: "members.read",
      operation: {
        id: "listOrganizationMembers",
        summary: "List the members of an organization",
        description: "All members, sorted by username, ignoring case.",
        query: LIST_QUERY,
        answers: {
          200: listAnswer("The members", ORGANIZATION_MEMBER_V1, EXAMPLE),
        },
      },
      async handle({ ctx, account, action, query, param }) {
        const owner = await ownerFor(pg, account, param("organization"), action, { kind: "organization" });
        const members = await listMembers(pg, owner.id);
        ctx.set("ETag", entityTag(members));
        ctx.body = listPage({ ctx, query }, members, ({ username }) => username);
      },
    }),
    route({
      method: "POST",
      path: "/v1/organizations/:organization/users",
      action: "members.write",
      operation: {
        id: "putOrganizationMember",
        summary: "Add a member to an organization, or change a member's role",
        description:
          "Only owners can make a member an owner or change an owner's role. The role of the last owner " +
          "cannot be changed. " +
          MATCHED,
        body: { schema: ORGANIZATION_MEMBER_UPSERT, example: SENT },
        answers: {
          200: { description: "The member with the new role", ...RECORD },
          201: { description: "The new member", ...RECORD },
        },
        problems: ["unknown-user", "cannot-remove-last-owner", "precondition-failed"],
      },
      async handle(call) {
        const sent = await readJson(call.ctx, parseOrganizationMemberUpsert);
        const { created, member } = await putMember(pg, call, sent);
        call.ctx.status = created ? 201 : 200;
        call.ctx.body = member;
      },
    }),
    route({
      method: "DELETE",
      path: "/v1/organizations/:organization/users/:username",
      action: "members.write",
      operation: {
        id: "removeOrganizationMember",
        summary: "Remove a member from an organization, or leave it",
        description:
          "Every member can leave. Only owners can remove an owner, and the last owner cannot be removed " +
          "or leave. Explicit permissions on packages stay, because they are not part of the membership. " +
          `${MATCHED}`,
        answers: { 204: { description: "Member removed" } },
        problems: ["cannot-remove-last-owner", "precondition-failed"],
      },
      async handle(call) {
        await removeMember(pg, call);
        call.ctx.status = 204;
      },
    }),
  ];
}
