import type { Pool } from "pg";
import { OPERATOR } from "../../../schemas/contracts/audit-entry.js";
import type { ParkedChunk, ParkedChunks } from "../../../schemas/records/dead-letter.js";
import { insertAuditEntry, type OperatorAction } from "../accounts/audit-entries.js";
import { inTransaction } from "../connection.js";
import { query, utc, type Postgres } from "../query.js";

/** What was set aside, as enrichment parks it. */
export function parkedChunks(pg: Postgres): ParkedChunks {
  return {
    park: async (chunks) => {
      const ids: number[] = [];
      for (const chunk of chunks) ids.push(...(await insertParkedChunk(pg, chunk)));
      return ids;
    },
  };
}

/** One that waits for an operator. */
export interface WaitingChunk {
  id: number;
  importId: string | null;
  /** Name of the import's owner; null where the record names no import that exists. */
  owner: string | null;
  firstLine: number;
  lines: number;
  bytes: number;
  reason: string;
  tries: number;
  parkedAt: string;
}

export async function listParkedChunks(pg: Postgres): Promise<WaitingChunk[]> {
  return query<WaitingChunk>(
    pg,
    `select p.id::float8 as id, p.import_id as "importId", o.name as owner, p.first_line::float8 as "firstLine",
       p.lines, length(p.record) as bytes, p.reason, p.tries, ${utc("p.parked_at")} as "parkedAt"
     from parked_chunks p left join imports i on i.id = p.import_id left join owners o on o.id = i.owner_id
     where p.ended_at is null order by p.id`,
  );
}

export async function countParkedChunks(pg: Postgres): Promise<number> {
  const text = "select count(*)::float8 as waiting from parked_chunks where ended_at is null";
  const [row] = await query<{ waiting: number }>(pg, text);
  return row?.waiting ?? 0;
}

/** Whose chunk it is; null in both where its record names no import that exists. */
interface OwnedChunk {
  id: number;
  importId: string | null;
  ownerId: string | null;
}

/** A record on its way back into the log. */
export interface RetriedChunk extends OwnedChunk {
  partition: number;
  record: Buffer;
}

/** `closed`: its import was aborted or retracted, nothing more goes into it. `unknown`: none of this id waits. */
export type Retried = "appended" | "closed" | "unknown";

/**
 * Gives a waiting chunk to `append` and ends it when that is durable. Cut short in between it waits still, and may be
 * appended once more: the same versions of the same events come twice then, which settlement heals.
 */
export async function retryParkedChunk(
  pg: Pool,
  id: number,
  append: (chunk: RetriedChunk) => Promise<void>,
): Promise<Retried> {
  return inTransaction(pg, async (client) => {
    const [chunk] = await query<RetriedChunk & { closed: boolean }>(
      client,
      `select p.id::float8 as id, i.id as "importId", i.owner_id as "ownerId", p.partition, p.record,
         coalesce(i.status = 'aborted' or i.retracted, false) as closed
       from parked_chunks p left join imports i on i.id = p.import_id
       where p.id = $1 and p.ended_at is null for update of p`,
      [id],
    );
    if (chunk === undefined) return "unknown";
    if (chunk.closed) return "closed";
    await append(chunk);
    await endParkedChunks(client, [id]);
    await recordEndings(client, { action: "parked.retry", chunks: [chunk] });
    return "appended";
  });
}

/** Ends all of them, or none: answers the ids of which none waits. */
export async function dropParkedChunks(pg: Pool, ids: readonly number[]): Promise<number[]> {
  return inTransaction(pg, async (client) => {
    const waiting = await query<OwnedChunk>(
      client,
      `select p.id::float8 as id, i.id as "importId", i.owner_id as "ownerId"
       from parked_chunks p left join imports i on i.id = p.import_id
       where p.id = any($1::bigint[]) and p.ended_at is null for update of p`,
      [ids],
    );
    const unknown = ids.filter((id) => !waiting.some((found) => found.id === id));
    if (unknown.length > 0) return unknown;
    await endParkedChunks(client, ids);
    await recordEndings(client, { action: "parked.drop", chunks: waiting });
    return [];
  });
}

async function endParkedChunks(pg: Postgres, ids: readonly number[]): Promise<void> {
  const text = "update parked_chunks set ended_at = now(), record = null where id = any($1::bigint[])";
  await query(pg, text, [ids]);
}

/** Ended so long ago that no replay brings them again. Answers how many. */
export async function deleteEndedChunks(pg: Postgres): Promise<number> {
  const rows = await query<{ deleted: number }>(
    pg,
    `with deleted as (delete from parked_chunks where ended_at < now() - interval '90 days' returning 1)
     select count(*)::float8 as deleted from deleted`,
  );
  return rows[0]?.deleted ?? 0;
}

/** Only the operator ends them. What belongs to nobody is in nobody's audit log. */
async function recordEndings(
  client: Postgres,
  { action, chunks }: { action: OperatorAction; chunks: readonly OwnedChunk[] },
): Promise<void> {
  for (const { id, importId, ownerId } of chunks) {
    if (importId === null || ownerId === null) continue;
    const target = { kind: "import", id: importId, name: `chunk ${id}` } as const;
    await insertAuditEntry(client, { ownerId, by: OPERATOR, action, target });
  }
}

async function insertParkedChunk(pg: Postgres, chunk: ParkedChunk): Promise<number[]> {
  const { place, partition, offset, importId = null, sequence, firstLine, lines, reason, tries } = chunk;
  const { buffer, byteOffset, byteLength } = chunk.record;
  const record = Buffer.from(buffer, byteOffset, byteLength);
  const rows = await query<{ id: number }>(
    pg,
    `insert into parked_chunks (place, partition, "offset", import_id, sequence, first_line, lines, reason, tries, record)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict (place) do nothing returning id::float8 as id`,
    [place, partition, offset, importId, sequence, firstLine, lines, reason, tries, record],
  );
  return rows.map(({ id }) => id);
}
