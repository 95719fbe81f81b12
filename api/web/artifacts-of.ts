import type { PackageUpstream, PackageV1 } from "../../schemas/contracts/package.js";
import type { PixelRecord } from "../../schemas/contracts/pixel.js";
import { Problem } from "../../schemas/problem.js";
import { path } from "./address.js";
import type { Visit } from "./page.js";
import type { PackageAccess } from "../../schemas/contracts/package-access.js";

type Asking = Pick<Visit, "api" | "owner">;

/** The packages of the visited owner that the viewer can see, by name, without their long descriptions. */
export async function packagesOf({ api, owner }: Asking): Promise<PackageV1[]> {
  const isOrganization = owner.kind === "organization" && owner.role !== "none";
  const packages = await api<PackageV1[]>({
    path: isOrganization ? path`/v1/organizations/${owner.name}/packages` : "/v1/packages",
    query: { short: "true" },
  });
  return packages.filter((each) => each.owner.toLowerCase() === owner.name.toLowerCase());
}

/** As `packagesOf`. Throws `not-found` for strangers, who see the same as for an owner that does not exist. */
export async function packagesUnlessStranger({ api, owner }: Asking): Promise<PackageV1[]> {
  const packages = await packagesOf({ api, owner });
  if (owner.role === "none" && packages.length === 0)
    throw new Problem("not-found", `${owner.name} doesn't exist, or you don't have access to it.`);
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

/** The pixels of the visited owner, newest first; all of them, since an owner has few. */
export async function pixelsOf({ api, owner }: Asking): Promise<PixelRecord[]> {
  const { pixels } = await api<{ pixels: PixelRecord[] }>({
    path: path`/v2/pixels/${owner.name}`,
    query: { per_page: 1_000 },
  });
  return pixels;
}

/** With the viewer's rights on it. Throws `not-found` and `ambiguous-name`. */
export async function packageAccessOf({ api, owner, param }: Visit): Promise<PackageAccess> {
  const asked = param("package");
  try {
    return await api<PackageAccess>({ path: path`/v2/packages/${owner.name}/${asked}/access` });
  } catch (error) {
    const sentence = error instanceof Problem ? SENTENCES[error.code]?.(asked) : undefined;
    if (sentence === undefined) throw error;
    throw new Problem((error as Problem).code, sentence, { cause: error });
  }
}

/** The API's name parameters and operations, which a page has not. */
const SENTENCES: Readonly<Record<string, (name: string) => string>> = {
  "not-found": (name) => `Package ${name} not found.`,
  "ambiguous-name": (name) => `Several packages are named ${name}. Open one from the overview.`,
};

export async function packageOf(visit: Visit): Promise<PackageV1> {
  return (await packageAccessOf(visit)).package;
}

/** The URLs of a package that its record does not have, for those who may change it. */
export function upstreamOf({ api, owner }: Asking, packageId: string): Promise<PackageUpstream> {
  return api<PackageUpstream>({ path: path`/v2/packages/${owner.name}/${packageId}/upstream` });
}

export const TYPES = {
  docker: "Docker image",
  npm: "npm package",
  hackage: "Hackage package",
  pypi: "Python package",
  other: "Files",
} as const;
