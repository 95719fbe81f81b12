import { query, utc, type Postgres } from "../postgres/query.js";

/** An account as an operator sees it. */
export interface ListedAccount {
  username: string;
  email: string;
  createdAt: string;
  exportEnabled: boolean;
  disabled: boolean;
  /** With the account's role in each. */
  organizations: { name: string; role: string }[];
}

export async function listAccounts(pg: Postgres): Promise<ListedAccount[]> {
  const text = `
    select o.name as username, a.email, ${utc("a.created_at")} as "createdAt", o.export_enabled as "exportEnabled",
      a.disabled_at is not null as disabled,
      coalesce((select jsonb_agg(jsonb_build_object('name', g.name, 'role', m.role) order by g.name_key)
        from memberships m join owners g on g.id = m.organization_id where m.account_id = a.id), '[]') as organizations
    from accounts a join owners o on o.id = a.id order by o.name_key`;
  return query<ListedAccount>(pg, text);
}
