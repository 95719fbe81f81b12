import {
  API_TOKEN_CREATE,
  API_TOKEN_V1,
  type ApiTokenCreate,
  type ApiTokenV1,
  CREATED_API_TOKEN_V1,
  parseApiTokenCreate,
} from "../../../schemas/contracts/user.js";
import { invalidBody } from "../../../schemas/invalid-body.js";
import type { Account } from "../../base/access/access.js";
import { readOwner } from "../../base/access/owners.js";
import type { Quotas } from "../../base/access/quotas.js";
import { type Asking, type Resource, type Scoped, findById } from "../../base/http/resource.js";
import { listAllRoute } from "../../base/http/resource-lists.js";
import { createRoute, deleteRoute } from "../../base/http/resource-routes.js";
import type { Route } from "../../base/http/route.js";
import { type TokenRoutesDeps, requireOwnToken } from "../../base/identity/accounts.js";
import {
  countApiTokens,
  deleteApiToken,
  insertApiToken,
  listApiTokens,
  readApiToken,
} from "../../base/identity/api-tokens.js";
import type { Postgres } from "../../base/postgres/query.js";

const ID = "0198a1c0-5a7e-7000-8000-000000000001";
const SENT = {
  name: "nightly import",
  scopes: ["import"],
  owner: "acme",
  expiresAt: "2030-01-31T12:00:00.000000Z",
};
const LISTED = { id: ID, ...SENT, createdAt: "2026-08-04T13:58:26.021037Z" };

interface ApiTokenDeps extends TokenRoutesDeps {
  quotas: Quotas;
}

export function apiTokenRoutes({ pg, tokens, onIssued, quotas }: ApiTokenDeps): Route[] {
  const admit = async (_: Postgres, { account }: Asking<TokenAction>) => ({
    id: account.id,
    name: account.username,
  });
  const resource = {
    pg,
    name: "token",
    plural: "tokens",
    path: "/v1/user/tokens",
    actions: { read: "tokens.list", create: "tokens.create", delete: "tokens.revoke" },
    schema: API_TOKEN_V1,
    example: { ...LISTED, lastUsedAt: "2026-08-05T03:00:00.120000Z" },
    scope: { problems: ["out-of-scope"] },
    parameters: {
      token: { schema: { type: "string", format: "uuid" }, description: "Id of the token", example: ID },
    },
    isTagged: false,
    async lock(client, asking) {
      await requireOwnToken(client, asking.account);
      return admit(client, asking);
    },
    admit,
    find: findById<ApiTokenV1, TokenAction, Scoped>({
      name: "token",
      admit,
      read: readApiToken,
      missing: (id) => `You have no token with the id ${id}.`,
    }),
    recordOf: (token) => token,
    targetOf: ({ id, name }) => ({ kind: "token", id, name }),
  } as const satisfies Resource<ApiTokenV1, ApiTokenV1, TokenAction, Scoped>;
  return [
    listAllRoute(resource, {
      summary: "List your access tokens",
      description: "Requires the account's own token. Expired tokens are listed until they are revoked.",
      about: "All access tokens, oldest first, without their secrets",
      list: listApiTokens,
    }),
    createRoute(resource, {
      summary: "Create an access token with limited permissions",
      description:
        "`owner` limits the token to your own account or one of your organizations. The token is valid until " +
        "`expiresAt` or until you revoke it. Requires the account's own token. Expired tokens count towards " +
        "the quota until they are revoked.",
      body: { schema: API_TOKEN_CREATE, example: SENT },
      parse: parseApiTokenCreate,
      problems: ["already-exists"],
      quotas,
      count: countApiTokens,
      prepare: async () => tokens.issue(),
      async insert(client, { call: { account }, sent, prepared }) {
        const ownerId = await ownerOf(client, { account, sent });
        const tokenHash = tokens.hash(prepared);
        return insertApiToken(client, { ...sent, accountId: account.id, ownerId, tokenHash });
      },
      changesOf: (_, { name, scopes, owner, expiresAt }) => ({ name, scopes, owner, expiresAt }),
      answer: {
        content: {
          description: "The token. It is shown only once",
          schema: CREATED_API_TOKEN_V1,
          example: { ...LISTED, token: `mtk_${"0".repeat(43)}` },
        },
        fields(token) {
          onIssued?.(token);
          return { token };
        },
      },
      location: "none",
    }),
    deleteRoute(resource, {
      id: "revokeToken",
      summary: "Revoke an access token",
      description: "The token becomes invalid immediately. Requires the account's own token.",
      about: "Token revoked",
      delete: (client, { id }) => deleteApiToken(client, id),
      changesOf: () => undefined,
    }),
  ];
}

type TokenAction = "tokens.list" | "tokens.create" | "tokens.revoke";

/** The id of the token's only owner; null if the token is not limited to one. */
async function ownerOf(
  client: Postgres,
  { account, sent }: { account: Account; sent: ApiTokenCreate },
): Promise<string | null> {
  if (sent.owner === undefined || sent.owner === null) return null;
  const owner = await readOwner(client, { accountId: account.id, name: sent.owner });
  if (owner !== undefined && owner.standing !== "none") return owner.id;
  throw invalidBody([{ path: "/owner", message: "must be your username or an organization you belong to" }]);
}
