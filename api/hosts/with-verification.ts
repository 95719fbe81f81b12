import type { PackageDomainV1 } from "../../schemas/contracts/package-domain.js";
import type { Postgres } from "../postgres/query.js";
import type { HostChecks } from "./host-checks.js";

/** The records of an owner's domains, with how far they are verified where they have to be. */
export async function withVerification(
  checks: HostChecks | undefined,
  pg: Postgres,
  ownerId: string,
  domains: readonly PackageDomainV1[],
): Promise<PackageDomainV1[]> {
  if (checks === undefined) return [...domains];
  const described = await checks.describe(pg, { ownerId, hosts: domains.map(({ name }) => name) });
  return domains.map((domain) => ({ ...domain, ...described.get(domain.name) }));
}
