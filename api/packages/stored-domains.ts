import { v7 as uuidv7 } from "uuid";
import type { PackageDomainV1 } from "../../schemas/contracts/package-domain.js";
import { hostInUse } from "../hosts/public-hosts.js";
import { query, violates, type Postgres } from "../postgres/query.js";

/** In order of creation. */
export async function listPackageDomains(pg: Postgres, packageId: string): Promise<PackageDomainV1[]> {
  const text = "select id, name from package_domains where package_id = $1 order by id";
  return query<PackageDomainV1>(pg, text, [packageId]);
}

/**
 * Throws `domain-is-already-in-use` if a package has that domain, without naming its owner. `requireFreeHost` checks
 * the docker packages of other owners.
 */
export async function insertPackageDomain(
  client: Postgres,
  { packageId, name }: { packageId: string; name: string },
): Promise<PackageDomainV1> {
  const id = uuidv7();
  const text = "insert into package_domains (id, package_id, name) values ($1, $2, $3)";
  try {
    await query(client, text, [id, packageId, name]);
    return { id, name };
  } catch (error) {
    if (!violates(error, "package_domains_name_taken")) throw error;
    throw hostInUse(name, { cause: error });
  }
}

export async function readPackageDomain(
  pg: Postgres,
  { packageId, id }: { packageId: string; id: string },
): Promise<PackageDomainV1 | undefined> {
  const text = "select id, name from package_domains where package_id = $1 and id = $2";
  const [found] = await query<PackageDomainV1>(pg, text, [packageId, id]);
  return found;
}

export async function deletePackageDomain(client: Postgres, id: string): Promise<void> {
  await query(client, "delete from package_domains where id = $1", [id]);
}
