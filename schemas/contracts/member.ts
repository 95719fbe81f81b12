import { compileBody } from "../validate.js";

/** OrganizationMemberV1, as returned. */
export interface OrganizationMemberV1 {
  organizationName: string;
  username: string;
  role: Role;
}

/** OrganizationMemberUpsertV1, as sent. */
export interface OrganizationMemberUpsert {
  username: string;
  role: Role;
}

export const ROLES = ["member", "admin", "owner"] as const;
export type Role = (typeof ROLES)[number];

export const ORGANIZATION_MEMBER_V1 = {
  title: "OrganizationMemberV1",
  type: "object",
  required: ["organizationName", "username", "role"],
  additionalProperties: false,
  properties: {
    organizationName: { type: "string" },
    username: { type: "string" },
    role: { type: "string", enum: ROLES },
  },
} as const;

/** No pattern: a name that no user can have is an unknown user, not a fault of the body. */
export const ORGANIZATION_MEMBER_UPSERT = {
  title: "OrganizationMemberUpsertV1",
  type: "object",
  required: ["username", "role"],
  additionalProperties: false,
  properties: {
    username: { type: "string", format: "line", minLength: 1, maxLength: 254 },
    role: { type: "string", enum: ROLES },
  },
} as const;

/** Throws `invalid-body` naming every fault. */
export const parseOrganizationMemberUpsert =
  compileBody<OrganizationMemberUpsert>(ORGANIZATION_MEMBER_UPSERT);
