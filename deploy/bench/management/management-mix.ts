import { Random } from "../../demo/random.js";
import type { ManagementAnswer, ManagementRequest } from "../common/kept-connections.js";
import {
  ABOUT,
  packageNamed,
  routeTo,
  type GroundOrganization,
  type GroundPackage,
} from "./management-ground.js";

/** Where a request goes; `index` makes names that are new. */
interface At extends GroundOrganization {
  package: GroundPackage;
  changed: GroundPackage;
  pixel: string;
  index: number;
}

interface Kind {
  /** Of a hundred requests. */
  share: number;
  /** The status of a good answer. */
  status: number;
  /** A token that may only read will do; every other such request brings one. */
  reads?: true;
  /** Names what it made, which a later request deletes. */
  madeAt?: (body: { uuid?: string; id?: string }, at: At) => string;
  request: (at: At) => ManagementRequest;
}

const read = (share: number, path: (at: At) => string): Kind => ({
  share,
  status: 200,
  reads: true,
  request: (at) => ({ method: "GET", path: path(at) }),
});

const change = (
  share: number,
  method: "POST" | "PUT",
  { status = 200, path, body }: { status?: number; path: (at: At) => string; body: (at: At) => unknown },
): Kind => ({ share, status, request: (at) => ({ method, path: path(at), body: body(at) }) });

const creation = (
  share: number,
  {
    path,
    body,
    madeAt,
  }: { path: (at: At) => string; body: (at: At) => unknown; madeAt: NonNullable<Kind["madeAt"]> },
): Kind => ({ ...change(share, "POST", { status: 201, path, body }), madeAt });

const BY_ID = read(15, (at) => `/v1/packages/${at.package.id}`);

/**
 * What scripts, dashboards and people might ask in a day, most of it reads: an assumption, no measured traffic. As much
 * is deleted as is made, so that lists keep their lengths.
 */
export const KINDS: readonly Kind[] = [
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
    madeAt: ({ uuid = "" }) => `/v1/packages/${uuid}`,
  }),
  creation(2, {
    path: (at) => `/v1/packages/${at.changed.id}/routes`,
    body: (at) => routeTo(`/made-${at.index}/{version}`),
    madeAt: ({ id = "" }, at) => `/v1/packages/${at.changed.id}/routes/${id}`,
  }),
  creation(1, {
    path: (at) => `/v1/packages/${at.changed.id}/domains`,
    body: (at) => ({ name: `made-${at.index}.${at.name}.example` }),
    madeAt: ({ id = "" }, at) => `/v1/packages/${at.changed.id}/domains/${id}`,
  }),
  creation(1, {
    path: (at) => `/v2/pixels/${at.name}`,
    body: (at) => ({ name: `made-${at.index}` }),
    madeAt: ({ id = "" }, at) => `/v2/pixels/${at.name}/${id}`,
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

/** The rest of a hundred: what was made is deleted, or a package read where there is nothing to delete yet. */
export const DELETIONS_SHARE = 100 - KINDS.reduce((total, { share }) => total + share, 0);

export interface MixedRequest {
  request: ManagementRequest;
  status: number;
  /** To be told of the answer that was hoped for. */
  onAnswered: (answer: ManagementAnswer) => void;
}

/** Requests in an order that looks random and is a function of `seed`. */
export class ManagementMix {
  private readonly made: { path: string; token: string }[] = [];

  constructor(
    private readonly organizations: readonly GroundOrganization[],
    private readonly seed: number,
  ) {}

  next(index: number): MixedRequest {
    const random = Random.at(this.seed, index, PURPOSE);
    const kind = pickKind(random.below(100));
    const gone = kind === undefined ? this.made.shift() : undefined;
    if (gone !== undefined)
      return mixed({ method: "DELETE", path: gone.path }, { token: gone.token, status: 204 });
    const { request, status, reads, madeAt } = kind ?? BY_ID;
    const organization = random.pick(this.organizations);
    const { packages, changing, pixels, token, readToken } = organization;
    const [one, changed, pixel] = [random.pick(packages), random.pick(changing), random.pick(pixels)];
    const at: At = { ...organization, package: one, changed, pixel, index };
    const by = reads && random.chance(0.5) ? readToken : token;
    const remember = ({ body }: ManagementAnswer) => {
      if (madeAt !== undefined) this.made.push({ path: madeAt(body as object, at), token });
    };
    return mixed(request(at), { token: by, status, onAnswered: remember });
  }
}

const PURPOSE = 61;

function pickKind(place: number): Kind | undefined {
  let below = 0;
  return KINDS.find(({ share }) => place < (below += share));
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
