import type { Pool } from "pg";
import type { ServedApi } from "./management-api.js";
import { get, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import type { ApiClient } from "../../../deploy/demo/api-client.js";

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

interface MatchingCall {
  token: string;
  /** `METHOD /path`. */
  request: string;
  ifMatch: string;
  body?: unknown;
}

/** Calls the API with `If-Match` and answers the status and the code of the problem, if there is one. */
export async function callIfMatch(
  { url }: Pick<ServedApi, "url">,
  { token, request, ifMatch, body }: MatchingCall,
): Promise<{ status: number; code: string | undefined }> {
  const [method = "GET", path = "/"] = request.split(" ", 2);
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, "if-match": ifMatch },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, code: (JSON.parse(text || "{}") as { code?: string }).code };
}

/** Asks for an export on a connection of its own and resolves with the headers; nothing is decompressed. */
export function openAnswer(api: ApiClient, path: string, encoding: string): Promise<IncomingMessage> {
  const headers = { Authorization: `Bearer ${api.token}`, "Accept-Encoding": encoding };
  return new Promise((resolve, reject) => {
    get(new URL(path, api.url), { headers, agent: false }, resolve).once("error", reject);
  });
}

export async function textOf(stream: AsyncIterable<Buffer>): Promise<string> {
  return (await buffer(stream)).toString();
}

interface ReadEntry {
  by: string;
  action: string;
  kind: string;
  name: string;
  changes: Record<string, unknown>;
}

/** The audit log of an owner, oldest first, without the entry of the owner's making. */
export async function readAudit(pg: Pool, owner: string): Promise<ReadEntry[]> {
  const text = `
    select actor.name as by, action, target_kind as kind, target_name as name, changes
    from audit_entries e join owners o on o.id = e.owner_id join owners actor on actor.id = e.account_id
    where o.name_key = lower($1) and action <> 'organization.create' and action <> 'packages.create'
    order by e.id`;
  return (await pg.query<ReadEntry>(text, [owner])).rows;
}

interface Audited {
  action: string;
  kind: string;
  name: string;
  changes: unknown;
}

/** The audit log's entries about an owner's things of one kind, oldest first. */
export async function auditOf(
  pg: Pool,
  { owner, kind }: { owner: string; kind: string },
): Promise<Audited[]> {
  const text = `
    select e.action, e.target_kind as kind, e.target_name as name, e.changes
    from audit_entries e join owners o on o.id = e.owner_id
    where o.name = $1 and e.target_kind = $2 order by e.id`;
  return (await pg.query<Audited>(text, [owner, kind])).rows;
}
