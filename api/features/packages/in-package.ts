import { lockedPackageFor, packageFor } from "../../base/access/authorise.js";
import type { PackageAction } from "../../base/access/resources.js";
import type { PackageRow } from "../../base/access/visible-packages.js";
import { type Asking, type Resource, findById } from "../../base/http/resource.js";
import type { Postgres } from "../../base/postgres/query.js";
import {
  PACKAGE_PATH,
  PACKAGE_PROBLEMS,
  PACKAGE_QUERY,
  type PackageCall,
  packageTypeOf,
} from "./packages.js";

/** Records of a package, whose routes begin with `/v1/packages/:package/`. */
export type InPackage<Row extends object> = Resource<Row, Row, PackageAction, PackageRow>;

interface Kind<Row> {
  /** Throws for types of packages that have no such records. */
  requireType: (row: PackageRow) => void;
  read: (pg: Postgres, asked: { packageId: string; id: string }) => Promise<Row | undefined>;
}

export function inPackage<Row extends object>(name: string, { requireType, read }: Kind<Row>) {
  const typeOf = ({ query }: Asking<PackageAction>) => ({
    type: packageTypeOf((query ?? {}) as PackageCall["query"]),
  });
  const admit: InPackage<Row>["admit"] = async (pg, asking) => {
    const { account, owner, action } = asking;
    const row = await packageFor(pg, account, owner, action, typeOf(asking));
    requireType(row);
    return row;
  };
  return {
    scope: {
      parameter: "package",
      title: "Package",
      path: PACKAGE_PATH,
      query: PACKAGE_QUERY,
      problems: [...PACKAGE_PROBLEMS, "not-a-file-package"],
    },
    admit,
    lock: async (client, asking) => {
      const { account, owner, action } = asking;
      const row = await lockedPackageFor(client, account, owner, action, typeOf(asking));
      requireType(row);
      return row;
    },
    find: findById<Row, PackageAction, PackageRow>({
      name,
      admit,
      read: (pg, { ownerId, id }) => read(pg, { packageId: ownerId, id }),
      missing: (id, owner) => `The package ${owner.name} has no ${name} with the id ${id}.`,
    }),
  } as const satisfies Pick<InPackage<Row>, "scope" | "admit" | "lock" | "find">;
}
