import type { PackageV1 } from "../../../schemas/contracts/package.js";
import type { PixelRecord } from "../../../schemas/contracts/pixel.js";
import { createBenchAccount } from "../common/create-bench-account.js";
import type {
  KeepAliveConnections,
  ManagementAnswer,
  ManagementRequest,
} from "../common/keep-alive-connections.js";

/** The records that the requests of the management benchmark use. */
export interface ManagementSetup {
  connections: KeepAliveConnections;
  organizations: SetupOrganization[];
}

export interface SetupOrganization {
  name: string;
  /** The token of its owner. */
  token: string;
  /** A read-only token. */
  readToken: string;
  /** The username of its member. */
  member: string;
  /** Packages that stay unchanged. */
  packages: SetupPackage[];
  /** Packages that requests change. */
  changing: SetupPackage[];
  pixels: string[];
}

export interface SetupPackage {
  id: string;
  name: string;
  /** At creation. */
  etag: string;
}

const OWNERS = 8;
/** Per owner, or per organization of theirs. */
const EACH = { organizations: 5, packages: 15, changing: 5, pixels: 5 };

/** Creates accounts, organizations and members, packages with routes, domains and permissions, pixels and tokens. */
export async function makeManagementSetup(
  dataDir: string,
  connections: KeepAliveConnections,
): Promise<ManagementSetup> {
  const organizations: SetupOrganization[] = [];
  const member = "bench-member";
  await createBenchAccount(dataDir, member);
  for (let owner = 0; owner < OWNERS; owner += 1) {
    const token = await createBenchAccount(dataDir, `bench-owner-${owner}`);
    const as = { connections, token };
    const { token: readToken } = await make<{ token: string }>(as, "/v1/user/tokens", READ_TOKEN);
    for (let nth = 0; nth < EACH.organizations; nth += 1) {
      const name = `bench-${owner}-${nth}`;
      await make(as, "/v1/organizations", { name, ...ABOUT });
      await make(as, `/v1/organizations/${name}/users`, { username: member, role: "member" });
      const packages = await Promise.all(times(EACH.packages, (i) => makePackage(as, { name, member, i })));
      const pixelPath = `/v2/pixels/${name}`;
      const pixels = await Promise.all(
        times(EACH.pixels, (i) => make<PixelRecord>(as, pixelPath, { name: `page ${i}` })),
      );
      const ids = pixels.map(({ id }) => id);
      const changing = packages.splice(-EACH.changing);
      organizations.push({ name, token, readToken, member, packages, changing, pixels: ids });
    }
  }
  return { connections, organizations };
}

const READ_TOKEN = { name: "read", scopes: ["read"] };
/** The fields of an organization, besides its name. */
export const ABOUT = { description: "Made by the benchmark", billingEmail: "billing@example.org" };

interface Maker {
  connections: KeepAliveConnections;
  token: string;
}

async function makePackage(
  as: Maker,
  { name: organization, member, i }: { name: string; member: string; i: number },
): Promise<SetupPackage> {
  const name = `${organization}/package-${i}`;
  const path = `/v1/organizations/${organization}/packages`;
  const made = await ask(as, { method: "POST", path, body: packageNamed(name) });
  const { uuid: id } = made.body as PackageV1;
  const below = `/v1/packages/${id}`;
  await make(as, `${below}/routes`, routeTo(`/files/${i}/{version}`));
  await make(as, `${below}/domains`, { name: `files-${i}.${organization}.example` });
  await make(as, `${below}/permissions`, { userQuery: member, permissionLevel: "admin" });
  return { id, name, etag: made.headers.etag ?? "" };
}

/** The body for a file package. */
export function packageNamed(name: string, shortDescription = "Made by the benchmark") {
  return { name, shortDescription, website: "https://example.org/" };
}

/** The body for a route of a file package. */
export function routeTo(templatePath: string) {
  return { templatePath, outgoingUrl: "https://files.example.org/{version}" };
}

async function make<T>(as: Maker, path: string, body: unknown): Promise<T> {
  return (await ask(as, { method: "POST", path, body })).body as T;
}

async function ask({ connections, token }: Maker, request: ManagementRequest): Promise<ManagementAnswer> {
  const headers = { Authorization: `Bearer ${token}` };
  const answer = await connections.send({ ...request, headers });
  if (answer.status < 300) return answer;
  throw new Error(`${request.path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
}

function times<T>(count: number, each: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => each(index));
}
