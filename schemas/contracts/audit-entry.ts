import { TIMESTAMP } from "../formats.js";

/** A change, its author and its time, as returned. */
export interface AuditEntryRecord {
  id: string;
  action: string;
  /** A username, `OPERATOR` or `SERVICE`. */
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

const TARGET = {
  type: "object",
  required: ["kind", "id", "name"],
  additionalProperties: false,
  properties: { kind: { type: "string" }, id: { type: "string" }, name: { type: "string" } },
} as const;

export const AUDIT_ENTRY = {
  title: "AuditEntry",
  type: "object",
  required: ["id", "action", "actor", "target", "changes", "created_at"],
  additionalProperties: false,
  properties: {
    id: { type: "string", format: "uuid" },
    action: { type: "string" },
    actor: { type: "string" },
    token: { type: "string" },
    target: TARGET,
    changes: { type: "object", additionalProperties: true },
    request_id: { type: "string" },
    created_at: TIMESTAMP,
  },
} as const;
