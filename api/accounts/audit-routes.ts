import type { ParsedUrlQuery } from "node:querystring";
import { AUDIT_ENTRY, OPERATOR, SERVICE } from "../../schemas/contracts/audit-entry.js";
import { isOwnerName } from "../../schemas/formats.js";
import { Problem } from "../../schemas/problem.js";
import { ACTIONS } from "../access/resources.js";
import { ownerFor } from "../access/authorise.js";
import { type Operation, type Route, route } from "../http/route.js";
import { PAGE_QUERY, pageAnswer, pageBody, parsePage } from "../http/answers/paging.js";
import {
  type AuditFilter,
  OPERATOR_ACTIONS,
  SERVICE_ACTIONS,
  SIGN_IN_ACTIONS,
  listAuditEntries,
} from "../access/audit-entries.js";
import type { Postgres } from "../postgres/query.js";

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

const LIST_AUDIT: Operation = {
  id: "listAuditEntries",
  summary: "List audit log entries",
  description:
    "Changes, exports and sign-ins, newest first. Owners and admins can read an organization's log; " +
    `users can read their own. The actor is \`${OPERATOR}\` for changes made on the service's command ` +
    `line, and \`${SERVICE}\` for changes made by the service itself. For \`export.read\`, \`packages.export\` ` +
    "and `user.sign-in-failed`, at most ten entries per minute are recorded, and the newest 1,000 per " +
    "token are kept (the operator can change this number). If a token exports the same target several " +
    "times within a minute, one entry lists all exported days.",
  query: {
    ...PAGE_QUERY,
    action: {
      schema: { type: "string" },
      description: "Return only entries for this action",
      example: "packages.create",
    },
    actor: { schema: { type: "string" }, description: "Return only entries by this user", example: "ada" },
  },
  answers: {
    200: pageAnswer({
      name: "audit_entries",
      record: AUDIT_ENTRY,
      example: EXAMPLE,
      title: "AuditEntryList",
    }),
  },
};

export function auditRoutes({ pg }: { pg: Postgres }): Route[] {
  return [
    route({
      method: "GET",
      path: "/v2/:owner/audit",
      action: "audit.read",
      operation: LIST_AUDIT,
      async handle({ ctx, account, action, param }) {
        const page = parsePage(ctx.query);
        const filter = parseFilter(ctx.query);
        const { id: ownerId } = await ownerFor(pg, account, param("owner"), action);
        const rows = await listAuditEntries(pg, { accountId: account.id, ownerId, page, filter });
        ctx.body = pageBody(ctx, { name: "audit_entries", rows, page, record: (each) => each });
      },
    }),
  ];
}

const NAMED_ACTIONS: readonly string[] = [
  ...Object.keys(ACTIONS),
  ...OPERATOR_ACTIONS,
  ...SERVICE_ACTIONS,
  ...SIGN_IN_ACTIONS,
];

/** Throws `invalid-query` for a value that no entry can have: a typing error must not look like an empty log. */
function parseFilter({ action, actor }: ParsedUrlQuery): AuditFilter {
  if (action !== undefined && (typeof action !== "string" || !NAMED_ACTIONS.includes(action)))
    throw new Problem("invalid-query", "action must be a single action, such as packages.create.");
  if (
    actor !== undefined &&
    (typeof actor !== "string" || !(actor === OPERATOR || actor === SERVICE || isOwnerName(actor)))
  )
    throw new Problem("invalid-query", `actor must be a single username, ${OPERATOR} or ${SERVICE}.`);
  return { action, actor };
}
