import { query, type Postgres } from "../postgres/query.js";

/** Disables or enables an account. Answers whether that changed anything. */
export async function updateDisabled(
  client: Postgres,
  { accountId, disabled }: { accountId: string; disabled: boolean },
): Promise<boolean> {
  const text = `
    update accounts set disabled_at = case when $2 then now() end
    where id = $1 and (disabled_at is not null) <> $2 returning id`;
  return (await query(client, text, [accountId, disabled])).length > 0;
}

/** Everything that would have no owner, or would break off, without the account. */
export interface Belongings {
  /** Organizations whose last owner it is. */
  organizations: string[];
  packages: string[];
  pixels: string[];
  /** Imports that it started and that still run, by id. */
  imports: string[];
}

export async function readBelongings(client: Postgres, accountId: string): Promise<Belongings> {
  const text = `
    select
      array(select o.name from memberships m join owners o on o.id = m.organization_id
        where m.account_id = $1 and m.role = 'owner' and not exists (
          select from memberships other
          where other.organization_id = m.organization_id and other.role = 'owner' and other.account_id <> $1
        ) order by o.name_key) as organizations,
      array(select name from packages where owner_id = $1 order by name) as packages,
      array(select name from pixels where owner_id = $1 order by name) as pixels,
      array(select id::text from imports where account_id = $1 and status = 'importing' order by id) as imports`;
  const [row] = await query<Required<Belongings>>(client, text, [accountId]);
  if (row === undefined) throw new Error("a select without a table answered no row");
  return row;
}

/** Serialises changes of the owners of the account's organizations until the transaction ends. */
export async function lockOrganizationsOf(client: Postgres, accountId: string): Promise<string[]> {
  const text = `
    select id from owners
    where id in (select organization_id from memberships where account_id = $1) order by id for update`;
  return (await query<{ id: string }>(client, text, [accountId])).map(({ id }) => id);
}

/**
 * Deletes the account with its tokens, sessions, memberships, levels and its own log. Entries in the logs of
 * organizations keep its name.
 */
export async function deleteAccount(
  client: Postgres,
  { id, username }: { id: string; username: string },
): Promise<void> {
  await query(client, "update audit_entries set account_name = $2 where account_id = $1", [id, username]);
  await query(client, "delete from owners where id = $1", [id]);
}
