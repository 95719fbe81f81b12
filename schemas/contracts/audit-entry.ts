import type { FromSchema } from "json-schema-to-ts";
import { TIMESTAMP, objectOf, titledObject } from "../formats.js";

/** The actor of changes by command line. No username contains parentheses. */
export const OPERATOR = "(operator)";

/** The actor of changes by the service itself. */
export const SERVICE = "(service)";

const TARGET = objectOf(["kind", "id", "name"], {
  kind: { type: "string" },
  id: { type: "string" },
  name: { type: "string" },
});

export const AUDIT_ENTRY = titledObject(
  "AuditEntry",
  ["id", "action", "actor", "target", "changes", "created_at"],
  {
    id: { type: "string", format: "uuid" },
    action: { type: "string" },
    actor: { type: "string" },
    token: { type: "string", description: "Name of the access token that was used, if any" },
    target: TARGET,
    changes: {
      type: "object",
      additionalProperties: true,
      description: "New values of the fields that changed. Null for a removed field",
    },
    request_id: {
      type: "string",
      description: "Id of the request. Absent for changes by the operator or the service",
    },
    created_at: TIMESTAMP,
  },
);
export type AuditEntryRecord = FromSchema<typeof AUDIT_ENTRY>;
