import type { Role } from "../../schemas/contracts/organization.js";

export const ROLE_LABELS: Record<Role, string> = { member: "Member", admin: "Admin", owner: "Owner" };
