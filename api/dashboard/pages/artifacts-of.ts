import type { PackageV1 } from "../../../schemas/contracts/package.js";
import type { PixelRecord } from "../../../schemas/contracts/pixel.js";
import { Problem } from "../../../schemas/problem.js";
import { path } from "../address.js";
import type { Visit } from "../page.js";

type Asking = Pick<Visit, "api" | "owner">;

/** The packages of the visited owner that the viewer can see, by name. */
export async function packagesOf({ api, owner }: Asking): Promise<PackageV1[]> {
  const isOrganization = owner.kind === "organization" && owner.role !== "none";
  const packages = await api<PackageV1[]>({
    path: isOrganization ? path`/v1/organizations/${owner.name}/packages` : "/v1/packages",
  });
  return packages.filter((each) => each.owner.toLowerCase() === owner.name.toLowerCase());
}

/** As `packagesOf`. Throws `not-found` for strangers, who see the same as for an owner that does not exist. */
export async function packagesUnlessStranger({ api, owner }: Asking): Promise<PackageV1[]> {
  const packages = await packagesOf({ api, owner });
  if (owner.role === "none" && packages.length === 0)
    throw new Problem("not-found", `There is no owner ${owner.name} that you can see.`);
  return packages;
}

/** The answer; undefined where the viewer may not have it. */
export async function ifAllowed<Answer>(asked: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof Problem && (error.status === 403 || error.status === 404)) return undefined;
    throw error;
  }
}

/** Whether the viewer is an admin of the package. Levels on single packages are known to the API alone. */
export async function isAdminOf({ api }: Pick<Visit, "api">, { uuid }: PackageV1): Promise<boolean> {
  const permissions = api<unknown[]>({ path: path`/v1/packages/${uuid}/permissions` });
  return (await ifAllowed(permissions)) !== undefined;
}

/** The pixels of the visited owner, newest first; all of them, since an owner has few. */
export async function pixelsOf({ api, owner }: Asking): Promise<PixelRecord[]> {
  const { pixels } = await api<{ pixels: PixelRecord[] }>({
    path: path`/v2/pixels/${owner.name}`,
    query: { per_page: 1_000 },
  });
  return pixels;
}
