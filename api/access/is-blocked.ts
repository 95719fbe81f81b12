interface BlockedFrom {
  /** The parameter with the account's id, such as `$1`. */
  account: string;
  /** The column with the id of the packages' owner. */
  owner: string;
  /** A condition on `blocked.package_id`: which packages are meant. */
  which: string;
}

/** SQL: whether an account is blocked from one of these packages. An owner never is. */
export function isBlocked({ account, owner, which }: BlockedFrom): string {
  return `
    ${owner} <> ${account} and exists (
      select from package_permissions blocked
      left join memberships held on held.organization_id = ${owner} and held.account_id = ${account}
      where blocked.account_id = ${account} and blocked.level = 'blocked'
        and held.role is distinct from 'owner' and (${which}))`;
}
