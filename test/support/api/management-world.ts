import type { Pool } from "pg";
import type { ServedApi } from "./management-api.js";

/** An organization with a caller of every standing to it. */
export interface World {
  organization: string;
  names: Record<Who, string>;
  tokens: Record<Who, string>;
}

export type Who = (typeof WHO)[number];
export const WHO = ["owner", "admin", "member", "stranger"] as const;

let made = 0;

/** Every world has names of its own. */
export async function makeWorld(api: ServedApi, pg: Pool): Promise<World> {
  made += 1;
  const organization = `Acme${made}`;
  const named = WHO.map((who) => [who, `${who}${made}`] as const);
  const tokened = named.map(async ([who, name]) => [who, await api.account(name)] as const);
  const names = Object.fromEntries(named) as Record<Who, string>;
  const tokens = Object.fromEntries(await Promise.all(tokened)) as Record<Who, string>;
  const body = { name: organization, description: "Things", billingEmail: "pay@acme.example" };
  await api.call(tokens.owner, "POST /v1/organizations", body);
  await joinOrganization(pg, { organization, username: names.admin, role: "admin" });
  await joinOrganization(pg, { organization, username: names.member, role: "member" });
  return { organization, names, tokens };
}

/** Gives a user a role in an organization. */
export async function joinOrganization(
  pg: Pool,
  { organization, username, role }: { organization: string; username: string; role: string },
): Promise<void> {
  const text = `
    insert into memberships (organization_id, account_id, role)
    select o.id, a.id, $3 from owners o, owners a where o.name = $1 and a.name = $2`;
  await pg.query(text, [organization, username, role]);
}

export async function setLevel(
  pg: Pool,
  { packageId, username, level }: { packageId: string; username: string; level: string },
): Promise<void> {
  const text = `
    insert into package_permissions (package_id, account_id, level)
    select $1, id, $3 from owners where name = $2`;
  await pg.query(text, [packageId, username, level]);
}

/** The id in an answer, whichever version of the API spells it. */
export function idOf({ body }: { body: unknown }): string {
  const { uuid, id } = body as { uuid?: string; id?: string };
  return uuid ?? id ?? "";
}

export const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;
export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
