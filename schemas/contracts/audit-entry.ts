import { TIMESTAMP, objectOf, titledObject } from "../formats.js";

export interface AuditEntryRecord {
  id: string;
  action: string;
  actor: string;
  /** Name of the additional token that was used, if any. */
  token?: string;
  target: { kind: string; id: string; name: string };
  /** The new and changed fields; null for a removed field. */
  changes: Record<string, unknown>;
  /** Absent for changes by the operator or the service. */
  request_id?: string;
  created_at: string;
}

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
    token: { type: "string" },
    target: TARGET,
    changes: { type: "object", additionalProperties: true },
    request_id: { type: "string" },
    created_at: TIMESTAMP,
  },
);
