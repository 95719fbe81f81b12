import { AUDIT_ENTRY, OPERATOR, SERVICE } from "../../../schemas/contracts/audit-entry.js";
import { isOwnerName } from "../../../schemas/formats.js";
import { ACTIONS } from "../../base/access/resources.js";
import { ownerFor } from "../../base/access/authorise.js";
import type { Parameters } from "../../base/http/answers/query-parameters.js";
import { type Operation, type Route, route } from "../../base/http/route.js";
import { PAGE_QUERY, pageAnswer, pageBody, pageOf } from "../../base/http/answers/paging.js";
import {
  OPERATOR_ACTIONS,
  SERVICE_ACTIONS,
  SIGN_IN_ACTIONS,
  listAuditEntries,
} from "../../base/access/audit-entries.js";
import type { Postgres } from "../../base/postgres/query.js";

const ID = "0198a1c0-5a7e-7000-8000-000000000001";

const EXAMPLE = {
  id: ID,
  action: "organization.update",
  actor: "ada",
  token: "terraform",
  target: { kind: "organization", id: ID, name: "acme" },
  changes: { description: "Maintainers of the acme tools", website: null },
  request_id: "5f0c2f6e-1b1e-4f53-9a3f-2f3c8a1de0aa",
  created_at: "2026-08-04T13:58:26.021037Z",
};

const NAMED_ACTIONS: readonly string[] = [
  ...Object.keys(ACTIONS),
  ...OPERATOR_ACTIONS,
  ...SERVICE_ACTIONS,
  ...SIGN_IN_ACTIONS,
];

/** A value that no entry can have is rejected: a typing error must not look like an empty log. */
const FILTERS = {
  action: {
    schema: { type: "string", enum: NAMED_ACTIONS },
    description: "Return only entries for this action",
    example: "packages.create",
    sentence: "must be a single action, such as packages.create",
  },
  actor: {
    schema: { type: "string" },
    description: "Return only entries by this user",
    example: "ada",
    sentence: `must be a single username, ${OPERATOR} or ${SERVICE}`,
    allows: (text) => text === OPERATOR || text === SERVICE || isOwnerName(text),
  },
} as const satisfies Parameters;

const LIST_AUDIT = {
  id: "listAuditEntries",
  summary: "List audit log entries",
  description:
    "Changes, exports and sign-ins, newest first. Owners and admins can read an organization's log; " +
    `users can read their own. The actor is \`${OPERATOR}\` for changes made on the service's command ` +
    `line, and \`${SERVICE}\` for changes made by the service itself. At most ten failed sign-ins a minute ` +
    "are recorded. The newest 1,000 entries of `export.read`, `packages.export` and `user.sign-in-failed` " +
    "are kept for each action and token (the operator can change this number). If a token exports the same " +
    "target several times within a minute, one entry lists all exported days.",
  query: { ...PAGE_QUERY, ...FILTERS },
  answers: {
    200: pageAnswer({
      name: "audit_entries",
      record: AUDIT_ENTRY,
      example: EXAMPLE,
      title: "AuditEntryList",
    }),
  },
} satisfies Operation;

export function auditRoutes({ pg }: { pg: Postgres }): Route[] {
  return [
    route({
      method: "GET",
      path: "/v2/:owner/audit",
      action: "audit.read",
      operation: LIST_AUDIT,
      async handle({ ctx, account, action, query, param }) {
        const page = pageOf(query);
        const filter = { action: query.action, actor: query.actor };
        const { id: ownerId } = await ownerFor(pg, account, param("owner"), action);
        const rows = await listAuditEntries(pg, { accountId: account.id, ownerId, page, filter });
        ctx.body = pageBody(ctx, { name: "audit_entries", rows, page, record: (each) => each });
      },
    }),
  ];
}
