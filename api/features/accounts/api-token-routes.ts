import type { PoolClient } from "pg";
import {
  API_TOKEN_CREATE,
  API_TOKEN_V1,
  type ApiTokenCreate,
  type ApiTokenV1,
  CREATED_API_TOKEN_V1,
  parseApiTokenCreate,
} from "../../../schemas/contracts/user.js";
import { isUuid } from "../../../schemas/formats.js";
import { Problem } from "../../../schemas/problem.js";
import { invalidBody } from "../../../schemas/invalid-body.js";
import { LIST_QUERY, listAnswer, listPage } from "../../base/http/answers/paging.js";
import { type TokenRoutesDeps, requireOwnToken } from "../../base/identity/accounts.js";
import { readJson } from "../../base/http/middleware/read-json.js";
import { type Operation, type Route, route } from "../../base/http/route.js";
import { QUOTA_PROBLEMS, type Quotas, requireRoom } from "../../base/access/quotas.js";
import type { Account } from "../../base/access/access.js";
import {
  countApiTokens,
  deleteApiToken,
  insertApiToken,
  listApiTokens,
} from "../../base/identity/api-tokens.js";
import { inTransaction } from "../../base/postgres/connection.js";
import { readOwner } from "../../base/access/owners.js";
import type { TokenCipher } from "../../base/identity/tokens.js";

const ID = "0198a1c0-5a7e-7000-8000-000000000001";
const SENT = {
  name: "nightly import",
  scopes: ["import"],
  owner: "acme",
  expiresAt: "2030-01-31T12:00:00.000000Z",
};
const LISTED = { id: ID, ...SENT, createdAt: "2026-08-04T13:58:26.021037Z" };

const LIST_TOKENS = {
  id: "listTokens",
  summary: "List your access tokens",
  description: "Requires the account's own token. Expired tokens are listed until they are revoked.",
  answers: {
    200: listAnswer("All access tokens, oldest first, without their secrets", API_TOKEN_V1, {
      ...LISTED,
      lastUsedAt: "2026-08-05T03:00:00.120000Z",
    }),
  },
  query: LIST_QUERY,
  problems: ["out-of-scope"],
} satisfies Operation;

const CREATE_TOKEN: Operation = {
  id: "createToken",
  summary: "Create an access token with limited permissions",
  description:
    "`owner` limits the token to your own account or one of your organizations. The token is valid until " +
    "`expiresAt` or until you revoke it. Requires the account's own token. Expired tokens count towards " +
    "the quota until they are revoked.",
  body: { schema: API_TOKEN_CREATE, example: SENT },
  answers: {
    201: {
      description: "The token. It is shown only once",
      schema: CREATED_API_TOKEN_V1,
      example: { ...LISTED, token: `mtk_${"0".repeat(43)}` },
    },
  },
  problems: ["out-of-scope", "already-exists", QUOTA_PROBLEMS.tokens],
};

const REVOKE_TOKEN: Operation = {
  id: "revokeToken",
  summary: "Revoke an access token",
  description: "The token becomes invalid immediately. Requires the account's own token.",
  path: {
    token: { schema: { type: "string", format: "uuid" }, description: "Id of the token", example: ID },
  },
  answers: { 204: { description: "Token revoked" } },
  problems: ["out-of-scope"],
};

interface ApiTokenDeps extends TokenRoutesDeps {
  quotas: Quotas;
}

export function apiTokenRoutes({ pg, tokens, onIssued, quotas }: ApiTokenDeps): Route[] {
  return [
    route({
      method: "GET",
      path: "/v1/user/tokens",
      action: "tokens.list",
      operation: LIST_TOKENS,
      async handle({ ctx, account, query }) {
        ctx.body = listPage({ ctx, query }, await listApiTokens(pg, account.id), ({ id }) => id);
      },
    }),
    route({
      method: "POST",
      path: "/v1/user/tokens",
      action: "tokens.create",
      operation: CREATE_TOKEN,
      async handle({ ctx, account, record }) {
        const sent = await readJson(ctx, parseApiTokenCreate);
        const made = await inTransaction(pg, async (client) => {
          await requireOwnToken(client, account);
          const made = await createToken(client, { account, sent, tokens, quotas });
          const { id, name, scopes, owner, expiresAt } = made;
          const target = { kind: "token", id, name } as const;
          await record(client, { ownerId: account.id, target, changes: { name, scopes, owner, expiresAt } });
          return made;
        });
        onIssued?.(made.token);
        ctx.status = 201;
        ctx.body = made;
      },
    }),
    route({
      method: "DELETE",
      path: "/v1/user/tokens/:token",
      action: "tokens.revoke",
      operation: REVOKE_TOKEN,
      async handle({ ctx, account, param, record }) {
        const id = param("token").toLowerCase();
        await inTransaction(pg, async (client) => {
          await requireOwnToken(client, account);
          const name = await revokeToken(client, { account, id });
          await record(client, { ownerId: account.id, target: { kind: "token", id, name } });
        });
        ctx.status = 204;
      },
    }),
  ];
}

interface Creating {
  account: Account;
  sent: ApiTokenCreate;
  tokens: TokenCipher;
  quotas: Quotas;
}

async function createToken(
  client: PoolClient,
  { account, sent, tokens, quotas }: Creating,
): Promise<ApiTokenV1 & { token: string }> {
  const { name, scopes, expiresAt } = sent;
  const ownerId = await ownerOf(client, { account, sent });
  const count = await countApiTokens(client, account.id);
  requireRoom(quotas, "tokens", { name: account.username, count });
  const token = tokens.issue();
  const made = { accountId: account.id, name, scopes, ownerId, expiresAt: expiresAt ?? null };
  return { ...(await insertApiToken(client, { ...made, tokenHash: tokens.hash(token) })), token };
}

/** The id of the token's only owner; null if the token is not limited to one. */
async function ownerOf(
  client: PoolClient,
  { account, sent }: Omit<Creating, "tokens" | "quotas">,
): Promise<string | null> {
  if (sent.owner === undefined || sent.owner === null) return null;
  const owner = await readOwner(client, { accountId: account.id, name: sent.owner });
  if (owner !== undefined && owner.standing !== "none") return owner.id;
  throw invalidBody([{ path: "/owner", message: "must be your username or an organization you belong to" }]);
}

async function revokeToken(
  client: PoolClient,
  { account, id }: { account: Account; id: string },
): Promise<string> {
  const name = isUuid(id) ? await deleteApiToken(client, { accountId: account.id, id }) : undefined;
  if (name === undefined) throw new Problem("not-found", `You have no token with the id ${id}.`);
  return name;
}
