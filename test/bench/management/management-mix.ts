import { Random } from "../../../deploy/demo/random.js";
import type { ManagementAnswer, ManagementRequest } from "../common/keep-alive-connections.js";
import {
  ABOUT,
  packageNamed,
  routeTo,
  type SetupOrganization,
  type SetupPackage,
} from "./management-setup.js";

/** The target of a request; `index` makes names unique. */
interface Target extends SetupOrganization {
  package: SetupPackage;
  changed: SetupPackage;
  pixel: string;
  index: number;
}

interface Kind {
  /** Per cent of all requests. */
  share: number;
  /** The expected status. */
  status: number;
  /** Whether a read-only token suffices. Half of these requests use one. */
  reads?: true;
  /** The path of the created record, which a later request deletes. */
  createdPath?: (body: { uuid?: string; id?: string }, at: Target) => string;
  request: (at: Target) => ManagementRequest;
}

const read = (share: number, path: (at: Target) => string): Kind => ({
  share,
  status: 200,
  reads: true,
  request: (at) => ({ method: "GET", path: path(at) }),
});

const change = (
  share: number,
  method: "POST" | "PUT",
  {
    status = 200,
    path,
    body,
  }: { status?: number; path: (at: Target) => string; body: (at: Target) => unknown },
): Kind => ({ share, status, request: (at) => ({ method, path: path(at), body: body(at) }) });

const creation = (
  share: number,
  {
    path,
    body,
    createdPath,
  }: {
    path: (at: Target) => string;
    body: (at: Target) => unknown;
    createdPath: NonNullable<Kind["createdPath"]>;
  },
): Kind => ({ ...change(share, "POST", { status: 201, path, body }), createdPath });

const BY_ID = read(15, (at) => `/v1/packages/${at.package.id}`);

/**
 * A mix of requests from scripts, dashboards and people, mostly reads. It is an assumption, not measured traffic. As
 * many records are deleted as created, so that lists keep their lengths: the rest of the shares. A package is read instead
 * while there is nothing to delete.
 */
const KINDS: readonly Kind[] = [
  BY_ID,
  read(8, (at) => `/v1/packages/${encodeURIComponent(at.package.name)}?packageType=other`),
  {
    share: 10,
    status: 304,
    reads: true,
    request: ({ package: { id, etag } }) => ({
      method: "GET",
      path: `/v1/packages/${id}`,
      headers: { "If-None-Match": etag },
    }),
  },
  read(6, () => "/v1/packages"),
  read(6, (at) => `/v1/organizations/${at.name}/packages`),
  read(6, (at) => `/v1/organizations/${at.name}`),
  read(5, (at) => `/v1/organizations/${at.name}/users`),
  read(4, (at) => `/v1/packages/${at.package.id}/permissions`),
  read(4, (at) => `/v1/packages/${at.package.id}/routes`),
  read(3, (at) => `/v1/packages/${at.package.id}/domains`),
  read(4, (at) => `/v2/pixels/${at.name}`),
  read(3, (at) => `/v2/pixels/${at.name}/${at.pixel}`),
  { share: 3, status: 200, request: () => ({ method: "GET", path: "/v1/user" }) },
  { share: 2, status: 200, request: (at) => ({ method: "GET", path: `/v2/${at.name}/audit` }) },
  creation(3, {
    path: (at) => `/v1/organizations/${at.name}/packages`,
    body: (at) => packageNamed(`${at.name}/made-${at.index}`),
    createdPath: ({ uuid = "" }) => `/v1/packages/${uuid}`,
  }),
  creation(2, {
    path: (at) => `/v1/packages/${at.changed.id}/routes`,
    body: (at) => routeTo(`/made-${at.index}/{version}`),
    createdPath: ({ id = "" }, at) => `/v1/packages/${at.changed.id}/routes/${id}`,
  }),
  creation(1, {
    path: (at) => `/v1/packages/${at.changed.id}/domains`,
    body: (at) => ({ name: `made-${at.index}.${at.name}.example` }),
    createdPath: ({ id = "" }, at) => `/v1/packages/${at.changed.id}/domains/${id}`,
  }),
  creation(1, {
    path: (at) => `/v2/pixels/${at.name}`,
    body: (at) => ({ name: `made-${at.index}` }),
    createdPath: ({ id = "" }, at) => `/v2/pixels/${at.name}/${id}`,
  }),
  change(3, "PUT", {
    path: (at) => `/v1/packages/${at.changed.id}`,
    body: (at) => packageNamed(at.changed.name, `Changed by request ${at.index}`),
  }),
  change(1, "PUT", {
    path: (at) => `/v1/organizations/${at.name}`,
    body: (at) => ({ name: at.name, ...ABOUT, website: `https://example.org/${at.index}` }),
  }),
  change(2, "POST", {
    status: 204,
    path: (at) => `/v1/packages/${at.changed.id}/permissions`,
    body: ({ member, index }) => [
      { userQuery: member, permissionLevel: index % 2 === 0 ? "member" : "admin" },
    ],
  }),
  change(1, "POST", {
    path: (at) => `/v1/organizations/${at.name}/users`,
    body: ({ member, index }) => ({ username: member, role: index % 2 === 0 ? "member" : "admin" }),
  }),
];

interface MixedRequest {
  request: ManagementRequest;
  status: number;
  /** Call with an answer that has the expected status. */
  onAnswered: (answer: ManagementAnswer) => void;
}

/** Requests in a pseudo-random order from `seed`. */
export class ManagementMix {
  private readonly created: { path: string; token: string }[] = [];

  constructor(
    private readonly organizations: readonly SetupOrganization[],
    private readonly seed: number,
  ) {}

  next(index: number): MixedRequest {
    const random = Random.at(this.seed, index, PURPOSE);
    const kind = pickKind(random.below(100));
    const deletion = kind === undefined ? this.created.shift() : undefined;
    if (deletion !== undefined)
      return mixed({ method: "DELETE", path: deletion.path }, { token: deletion.token, status: 204 });
    const { request, status, reads, createdPath } = kind ?? BY_ID;
    const organization = random.pick(this.organizations);
    const { packages, changing, pixels, token, readToken } = organization;
    const [one, changed, pixel] = [random.pick(packages), random.pick(changing), random.pick(pixels)];
    const at: Target = { ...organization, package: one, changed, pixel, index };
    const by = reads && random.chance(0.5) ? readToken : token;
    const remember = ({ body }: ManagementAnswer) => {
      if (createdPath !== undefined) this.created.push({ path: createdPath(body as object, at), token });
    };
    return mixed(request(at), { token: by, status, onAnswered: remember });
  }
}

const PURPOSE = 61;

function pickKind(percent: number): Kind | undefined {
  let below = 0;
  return KINDS.find(({ share }) => percent < (below += share));
}

function mixed(
  request: ManagementRequest,
  {
    token,
    status,
    onAnswered = () => undefined,
  }: { token: string; status: number; onAnswered?: MixedRequest["onAnswered"] },
): MixedRequest {
  const headers = { ...request.headers, Authorization: `Bearer ${token}` };
  return { request: { ...request, headers }, status, onAnswered };
}
