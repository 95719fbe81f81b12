import { TIMESTAMP, titledObject } from "../formats.js";
import { compileBody } from "../validate.js";

export interface OrganizationV1 {
  name: string;
  description: string;
  website?: string;
  billingEmail: string;
  createdAt: string;
  updatedAt: string;
}

export interface OrganizationUpsert {
  name: string;
  description: string;
  website?: string | null;
  billingEmail: string;
}

export const ORGANIZATION_V1 = titledObject(
  "OrganizationV1",
  ["name", "description", "billingEmail", "createdAt", "updatedAt"],
  {
    name: { type: "string" },
    description: { type: "string" },
    website: { type: "string" },
    billingEmail: { type: "string" },
    createdAt: TIMESTAMP,
    updatedAt: TIMESTAMP,
  },
);

export const ORGANIZATION_UPSERT = titledObject(
  "OrganizationUpsertV1",
  ["name", "description", "billingEmail"],
  {
    name: { type: "string", format: "owner-name" },
    description: { type: "string", format: "text", maxLength: 10_000 },
    website: { type: ["string", "null"], format: "website", maxLength: 2048 },
    billingEmail: { type: "string", format: "mailbox", maxLength: 500 },
  },
);

export const parseOrganizationUpsert = compileBody<OrganizationUpsert>(ORGANIZATION_UPSERT);

export interface OrganizationMemberV1 {
  organizationName: string;
  username: string;
  role: Role;
}

export interface OrganizationMemberUpsert {
  username: string;
  role: Role;
}

export const ROLES = ["member", "admin", "owner"] as const;
export type Role = (typeof ROLES)[number];

export const ORGANIZATION_MEMBER_V1 = titledObject(
  "OrganizationMemberV1",
  ["organizationName", "username", "role"],
  {
    organizationName: { type: "string" },
    username: { type: "string" },
    role: { type: "string", enum: ROLES },
  },
);

/** No pattern: a name that no user can have is an unknown user, not a fault of the body. */
export const ORGANIZATION_MEMBER_UPSERT = titledObject("OrganizationMemberUpsertV1", ["username", "role"], {
  username: { type: "string", format: "line", minLength: 1, maxLength: 254 },
  role: { type: "string", enum: ROLES },
});

export const parseOrganizationMemberUpsert =
  compileBody<OrganizationMemberUpsert>(ORGANIZATION_MEMBER_UPSERT);
