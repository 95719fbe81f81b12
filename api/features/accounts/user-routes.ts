import type { Pool } from "pg";
import { NEW_TOKEN_V1, USER_V1, type UserV1 } from "../../../schemas/contracts/user.js";
import { type Account, reaches } from "../../base/access/access.js";
import { type TokenRoutesDeps, rotateOwnToken } from "../../base/identity/accounts.js";
import { inProcessCaller } from "../../base/identity/client-address.js";
import { type Operation, type Route, route } from "../../base/http/route.js";
import { requireUser } from "../../base/identity/stored-accounts.js";
import { readApiToken } from "../../base/identity/api-tokens.js";
import { listOrganizationsOfAccount } from "./organizations.js";
import type { TokenCipher } from "../../base/identity/tokens.js";

const TOKEN = `mtk_${"0".repeat(43)}`;

const GET_USER: Operation = {
  id: "getUser",
  summary: "Get your account",
  description:
    "`token` is your account's own API token. It is returned only if the request uses this token; " +
    "requests with an access token get `tokenInUse` instead. With a token that is limited to one owner, " +
    "other organizations are not listed.",
  answers: {
    200: {
      description: "The account",
      schema: USER_V1,
      example: {
        username: "ada",
        email: "ada@example.org",
        createdAt: "2026-08-04T13:58:26.021037Z",
        exportEnabled: true,
        organizations: [{ name: "acme", role: "owner", exportEnabled: true }],
        token: TOKEN,
      },
    },
  },
};

const ROTATE_TOKEN = {
  id: "rotateToken",
  summary: "Rotate your API token",
  description:
    "The old token becomes invalid immediately. Your password, unused sign-in links and all dashboard " +
    "sessions are revoked too; access tokens are revoked only with `revokeTokens`. Requires the " +
    "account's own token. If several requests arrive at the same time, one succeeds and the others get 401.",
  query: {
    revokeTokens: {
      schema: { type: "boolean", default: false },
      description: "Also revoke all access tokens. Use this if someone else may have the token",
      example: true,
    },
  },
  answers: {
    200: { description: "The new token", schema: NEW_TOKEN_V1, example: { token: TOKEN } },
  },
  problems: ["out-of-scope"],
} as const satisfies Operation;

export function userRoutes({ pg, tokens, onIssued }: TokenRoutesDeps): Route[] {
  return [
    route({
      method: "GET",
      path: "/v1/user",
      action: "user.read",
      operation: GET_USER,
      async handle({ ctx, account }) {
        const user = await userOf(pg, { account, tokens });
        // Whoever asks with a session gets it on the page alone, which records that.
        if (ctx.state.session !== undefined || inProcessCaller(ctx.req) !== undefined) delete user.token;
        ctx.body = user;
      },
    }),
    route({
      method: "POST",
      path: "/v1/user/token",
      action: "user.rotate-token",
      operation: ROTATE_TOKEN,
      async handle({ ctx, account, query: { revokeTokens }, record }) {
        const token = await rotateOwnToken({ pg, tokens }, { account, revokeTokens, record });
        onIssued?.(token);
        ctx.body = { token };
      },
    }),
  ];
}

async function userOf(
  pg: Pool,
  { account, tokens }: { account: Account; tokens: TokenCipher },
): Promise<UserV1> {
  const { id, limited } = account;
  const { tokenCiphertext, ...details } = await requireUser(pg, id);
  const organizations = (await listOrganizationsOfAccount(pg, id))
    .filter((organization) => reaches(limited, organization.id))
    .map(({ name, role, exportEnabled }) => ({ name, role, exportEnabled }));
  if (limited === undefined) return { ...details, organizations, token: tokens.open(tokenCiphertext, id) };
  return { ...details, organizations, ...(await inUse(pg, { accountId: id, id: limited.id })) };
}

/** Empty if the token was revoked since the request began. */
async function inUse(
  pg: Pool,
  asked: { accountId: string; id: string },
): Promise<Pick<UserV1, "tokenInUse">> {
  const token = await readApiToken(pg, asked);
  if (token === undefined) return {};
  const { id, name, scopes, owner, expiresAt } = token;
  return { tokenInUse: { id, name, scopes, ...(owner && { owner }), ...(expiresAt && { expiresAt }) } };
}
