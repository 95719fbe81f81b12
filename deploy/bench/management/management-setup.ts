import type { PackageV1 } from "../../../schemas/contracts/package.js";
import type { PixelRecord } from "../../../schemas/contracts/pixel.js";
import { createBenchAccount } from "../common/create-bench-account.js";
import type { KeptConnections, ManagementAnswer, ManagementRequest } from "../common/kept-connections.js";

/** What the requests of the management benchmark are about. */
export interface ManagementGround {
  connections: KeptConnections;
  organizations: GroundOrganization[];
}

export interface GroundOrganization {
  name: string;
  /** Its owner's own token. */
  token: string;
  /** An additional token that may only read. */
  readToken: string;
  /** Who belongs to it. */
  member: string;
  /** That nobody changes. */
  packages: GroundPackage[];
  /** That requests change. */
  changing: GroundPackage[];
  pixels: string[];
}

export interface GroundPackage {
  id: string;
  name: string;
  /** As it was made. */
  etag: string;
}

const OWNERS = 8;
const ORGANIZATIONS_EACH = 5;
const PACKAGES_EACH = 15;
const CHANGING_EACH = 5;
const PIXELS_EACH = 5;

/** Makes accounts, organizations and members, packages with routes, domains and permissions, pixels and tokens. */
export async function makeManagementGround(
  dataDir: string,
  connections: KeptConnections,
): Promise<ManagementGround> {
  const organizations: GroundOrganization[] = [];
  const member = "bench-member";
  await createBenchAccount(dataDir, member);
  for (let owner = 0; owner < OWNERS; owner += 1) {
    const token = await createBenchAccount(dataDir, `bench-owner-${owner}`);
    const as = { connections, token };
    const { token: readToken } = await make<{ token: string }>(as, "/v1/user/tokens", READ_TOKEN);
    for (let nth = 0; nth < ORGANIZATIONS_EACH; nth += 1) {
      const name = `bench-${owner}-${nth}`;
      await make(as, "/v1/organizations", { name, ...ABOUT });
      await make(as, `/v1/organizations/${name}/users`, { username: member, role: "member" });
      const packages = await Promise.all(times(PACKAGES_EACH, (i) => makePackage(as, { name, member, i })));
      const pixelPath = `/v2/pixels/${name}`;
      const pixels = await Promise.all(
        times(PIXELS_EACH, (i) => make<PixelRecord>(as, pixelPath, { name: `page ${i}` })),
      );
      const ids = pixels.map(({ id }) => id);
      const changing = packages.splice(-CHANGING_EACH);
      organizations.push({ name, token, readToken, member, packages, changing, pixels: ids });
    }
  }
  return { connections, organizations };
}

const READ_TOKEN = { name: "read", scopes: ["read"] };
/** What an organization is sent with, beside its name. */
export const ABOUT = { description: "Made by the benchmark", billingEmail: "billing@example.org" };

interface Maker {
  connections: KeptConnections;
  token: string;
}

async function makePackage(
  as: Maker,
  { name: organization, member, i }: { name: string; member: string; i: number },
): Promise<GroundPackage> {
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

/** A file package, as it is sent. */
export function packageNamed(name: string, shortDescription = "Made by the benchmark") {
  return { name, shortDescription, website: "https://example.org/" };
}

/** A route of a file package, as it is sent. */
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
  throw new Error(`${request.path} was answered ${answer.status}: ${JSON.stringify(answer.body)}`);
}

function times<T>(count: number, each: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => each(index));
}
