import { v7 as uuidv7 } from "uuid";
import {
  ORGANIZATION_V1,
  type OrganizationUpsert,
  type OrganizationV1,
} from "../../../schemas/contracts/organization.js";
import { Problem } from "../../../schemas/problem.js";
import { type Nullable, withoutNulls } from "../../../schemas/formats.js";
import type { UserOrganization } from "../../../schemas/contracts/user.js";
import { selectList } from "../../base/postgres/record-rows.js";
import { type Postgres, query, readCount, violates } from "../../base/postgres/query.js";

/** Inserts the organization and its creator's membership as owner. Throws `already-exists` if the name is taken. */
export async function insertOrganization(
  pg: Postgres,
  { organization, creatorId }: { organization: OrganizationUpsert; creatorId: string },
): Promise<OrganizationV1 & { id: string }> {
  const text = `
    with owner as (insert into owners (id, kind, name) values ($1, 'organization', $2) returning id, name),
    made as (
      insert into organizations (id, description, website, billing_email, made_by)
      select id, $3, $4, $5, $6 from owner returning *
    ),
    joined as (
      insert into memberships (organization_id, account_id, role) select id, $6, 'owner' from owner
    )
    select ${FIELDS} from owner join made using (id)`;
  const { name, description, website, billingEmail } = organization;
  const id = uuidv7();
  const values = [id, name, description, website ?? null, billingEmail, creatorId];
  return { id, ...record(await naming(name, () => query<Row>(pg, text, values))) };
}

/** The organizations that the account made, also those that others own since. */
export function countOrganizationsMade(pg: Postgres, accountId: string): Promise<number> {
  return readCount(pg, "select count(*)::int from organizations where made_by = $1", [accountId]);
}

/** Throws `already-exists` if the name is taken. */
export async function updateOrganization(
  pg: Postgres,
  { id, organization }: { id: string; organization: OrganizationUpsert },
): Promise<OrganizationV1> {
  const text = `
    with owner as (update owners set name = $2 where id = $1 returning id, name),
    made as (
      update organizations set description = $3, website = $4, billing_email = $5, updated_at = clock_timestamp()
      where id = $1 returning *
    )
    select ${FIELDS} from owner join made using (id)`;
  const { name, description, website, billingEmail } = organization;
  const values = [id, name, description, website ?? null, billingEmail];
  return record(await naming(name, () => query<Row>(pg, text, values)));
}

async function naming<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!violates(error, "owners_name_taken")) throw error;
    throw new Problem("already-exists", `The name ${name} is taken by a user or an organization.`, {
      cause: error,
    });
  }
}

export async function readOrganization(pg: Postgres, id: string): Promise<OrganizationV1> {
  const text = `
    select ${FIELDS}
    from owners owner join organizations made using (id) where owner.id = $1`;
  return record(await query<Row>(pg, text, [id]));
}

export async function listOrganizationsOfAccount(
  pg: Postgres,
  accountId: string,
): Promise<(UserOrganization & { id: string })[]> {
  const text = `
    select o.id, o.name, m.role, o.export_enabled as "exportEnabled"
    from memberships m join owners o on o.id = m.organization_id
    where m.account_id = $1 order by o.name_key collate "C"`;
  return query<UserOrganization & { id: string }>(pg, text, [accountId]);
}

type Row = Nullable<OrganizationV1>;

const FIELDS = selectList(ORGANIZATION_V1, "made", { name: "owner.name" });

function record([row]: Row[]): OrganizationV1 {
  if (row === undefined) throw new Error("an organization vanished between two statements");
  return withoutNulls<OrganizationV1>(row);
}
