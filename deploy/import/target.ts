import { closestMatch } from "leven";
import type { PackageV1 } from "../../schemas/contracts/package.js";
import type { UserV1 } from "../../schemas/contracts/user.js";
import { StartFailure } from "../process/start-failure.js";
import { Refusal, type Service, readJson } from "./call-api.js";

/** An owner, or one package of it. */
export interface Target {
  owner: string;
  packageName?: string;
}

/** `acme` or `acme/web`; names of packages may have slashes. @throws StartFailure that names the `option` */
export function parseTarget(text: string, option: string): Target {
  const [, owner, packageName] = /^([^/]+)(?:\/(.+))?$/s.exec(text) ?? [];
  if (owner === undefined)
    throw new StartFailure(`${option} ${text} must be an owner, or an owner and a package: acme/web.`);
  return { owner, ...(packageName !== undefined && { packageName }) };
}

/** Does the work, and says with a refusal that found no owner or package which names are near. */
export async function nearTarget<Done>(
  service: Service,
  target: Target,
  work: () => Promise<Done>,
): Promise<Done> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 404) throw error;
    const nearest = nearestTo(target, await namesReached(service));
    if (nearest === undefined) throw error;
    throw new StartFailure(`${error.message} ${nearest}`, { cause: error });
  }
}

interface Names {
  owners: string[];
  packages: PackageV1[];
}

async function namesReached(service: Service): Promise<Names> {
  const { username, organizations } = await readJson<UserV1>(service, "/v1/user");
  const packages = await listPackages(service);
  const owners = [username, ...organizations.map(({ name }) => name), ...packages.map(({ owner }) => owner)];
  return { owners: [...new Set(owners)].sort(), packages };
}

/** Every package that the token reaches. */
export function listPackages(service: Service): Promise<PackageV1[]> {
  return readJson<PackageV1[]>(service, "/v1/packages?short=true");
}

const NAMED_MAX = 10;

/** A sentence; undefined where both names are known. */
function nearestTo({ owner, packageName }: Target, { owners, packages }: Names): string | undefined {
  if (!owners.includes(owner)) return choice(owner, owners, "owners");
  const names = packages.filter((each) => each.owner === owner).map(({ name }) => name);
  if (packageName === undefined || names.includes(packageName)) return undefined;
  return choice(packageName, names, `packages of ${owner}`);
}

function choice(name: string, names: readonly string[], noun: string): string {
  const nearest = closestMatch(name, [...names], { maxDistance: Math.max(2, Math.floor(name.length / 3)) });
  if (nearest !== undefined) return `Did you mean ${nearest}?`;
  if (names.length === 0) return `No ${noun} found.`;
  const more = names.length > NAMED_MAX ? " ..." : "";
  return `The ${noun} are ${names.slice(0, NAMED_MAX).join(", ")}${more}.`;
}
