import { v7 as uuidv7 } from "uuid";
import { API_TOKEN_V1, type ApiTokenCreate, type ApiTokenV1 } from "../../../schemas/contracts/user.js";
import { Problem } from "../../../schemas/problem.js";
import { type Nullable, withoutNulls } from "../../../schemas/formats.js";
import { insertRow, selectList } from "../postgres/record-rows.js";
import { type Postgres, query, readCount, violates } from "../postgres/query.js";

export interface NewApiToken extends Pick<ApiTokenCreate, "name" | "scopes" | "expiresAt"> {
  accountId: string;
  /** Null: no limit to one owner. */
  ownerId: string | null;
  tokenHash: Buffer;
}

/** Returns the id. Throws `already-exists` if the account has a token of that name. */
export async function insertApiToken(pg: Postgres, made: NewApiToken): Promise<string> {
  const id = uuidv7();
  const { accountId, ownerId, tokenHash, name, scopes, expiresAt = null } = made;
  const limits = { name, scopes, owner_id: ownerId, expires_at: expiresAt };
  try {
    await insertRow(pg, "api_tokens", { id, account_id: accountId, token_hash: tokenHash, ...limits });
    return id;
  } catch (error) {
    if (!violates(error, "api_tokens_name_taken")) throw error;
    throw new Problem("already-exists", `You already have a token named ${name}.`, { cause: error });
  }
}

/** Oldest first. Expired tokens stay until they are revoked. */
export async function listApiTokens(pg: Postgres, accountId: string): Promise<ApiTokenV1[]> {
  const text = `${SELECT} where t.account_id = $1 order by t.id`;
  return (await query<Row>(pg, text, [accountId])).map(withoutNulls<ApiTokenV1>);
}

export async function readApiToken(
  pg: Postgres,
  { accountId, id }: { accountId: string; id: string },
): Promise<ApiTokenV1 | undefined> {
  const [row] = await query<Row>(pg, `${SELECT} where t.account_id = $1 and t.id = $2`, [accountId, id]);
  return row && withoutNulls<ApiTokenV1>(row);
}

export function countApiTokens(pg: Postgres, accountId: string): Promise<number> {
  return readCount(pg, "select count(*)::int from api_tokens where account_id = $1", [accountId]);
}

export async function deleteApiToken(pg: Postgres, id: string): Promise<void> {
  await query(pg, "delete from api_tokens where id = $1", [id]);
}

/** Answers their names. */
export async function deleteApiTokensOf(pg: Postgres, accountId: string): Promise<string[]> {
  const text = "delete from api_tokens where account_id = $1 returning name";
  return (await query<{ name: string }>(pg, text, [accountId])).map(({ name }) => name).sort();
}

/** Only one of several concurrent processes writes. */
export async function updateLastUsed(pg: Postgres, id: string): Promise<void> {
  const text = `
    update api_tokens set last_used_at = now()
    where id = $1 and (last_used_at is null or last_used_at < now() - interval '1 minute')`;
  await query(pg, text, [id]);
}

type Row = Nullable<ApiTokenV1>;

const SELECT = `
  select ${selectList(API_TOKEN_V1, "t", { owner: "o.name" })}
  from api_tokens t left join owners o on o.id = t.owner_id`;
