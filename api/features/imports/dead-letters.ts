import type { Pool } from "pg";
import { OPERATOR } from "../../../schemas/contracts/audit-entry.js";
import type { DeadLetter } from "../../../schemas/records/chunk-outcome.js";
import { type OperatorAction, insertAuditEntry } from "../../base/access/audit-entries.js";
import { inTransaction } from "../../base/postgres/connection.js";
import { type Postgres, query, utc } from "../../base/postgres/query.js";

/** Stores a new dead letter until an operator retries or drops it; see `BatchWriter`. */
export async function putDeadLetter(pg: Postgres, letter: DeadLetter): Promise<number | undefined> {
  const {
    logPosition,
    partition,
    offset,
    importId = null,
    sequence,
    firstLine,
    lines,
    reason,
    tries,
  } = letter;
  const { buffer, byteOffset, byteLength } = letter.record;
  const record = Buffer.from(buffer, byteOffset, byteLength);
  const [row] = await query<{ id: number }>(
    pg,
    `insert into dead_letters (log_position, partition, "offset", import_id, sequence, first_line, lines, reason, tries,
       record)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict (log_position) do nothing returning id::float8 as id`,
    [logPosition, partition, offset, importId, sequence, firstLine, lines, reason, tries, record],
  );
  return row?.id;
}

export interface WaitingLetter {
  id: number;
  importId: string | null;
  /** Null if the import does not exist. */
  owner: string | null;
  firstLine: number;
  lines: number;
  bytes: number;
  reason: string;
  tries: number;
  createdAt: string;
}

export async function listDeadLetters(pg: Postgres): Promise<WaitingLetter[]> {
  return query<WaitingLetter>(
    pg,
    `select d.id::float8 as id, d.import_id as "importId", o.name as owner, d.first_line::float8 as "firstLine",
       d.lines, length(d.record) as bytes, d.reason, d.tries, ${utc("d.created_at")} as "createdAt"
     from dead_letters d left join imports i on i.id = d.import_id left join owners o on o.id = i.owner_id
     where d.ended_at is null order by d.id`,
  );
}

export async function countDeadLetters(pg: Postgres): Promise<number> {
  const text = "select count(*)::float8 as waiting from dead_letters where ended_at is null";
  const [row] = await query<{ waiting: number }>(pg, text);
  return row?.waiting ?? 0;
}

/** `importId` and `ownerId` are null if the import does not exist. */
interface OwnedLetter {
  id: number;
  importId: string | null;
  ownerId: string | null;
}

export interface RetriedLetter extends OwnedLetter {
  partition: number;
  record: Buffer;
}

/** `closed`: its import takes no lines any more. `unknown`: no waiting dead letter has this id. */
export type Retried = "appended" | "closed" | "unknown";

/** Ends it once the append is durable. A crash in between leaves it waiting; settlement removes the copies. */
export async function retryDeadLetter(
  pg: Pool,
  id: number,
  append: (letter: RetriedLetter) => Promise<AppendedLetter>,
): Promise<Retried> {
  return inTransaction(pg, async (client) => {
    const [letter] = await query<RetriedLetter & { closed: boolean }>(
      client,
      `select d.id::float8 as id, i.id as "importId", i.owner_id as "ownerId", d.partition, d.record,
         coalesce(i.status = 'aborted' or i.retracted, false) as closed
       from dead_letters d left join imports i on i.id = d.import_id
       where d.id = $1 and d.ended_at is null for update of d`,
      [id],
    );
    if (letter === undefined) return "unknown";
    if (letter.closed) return "closed";
    const appended = await append(letter);
    await endDeadLetters(client, [id]);
    await query(client, PUT_LOG_END, [letter.importId, appended.partition, appended.end ?? null]);
    // An erasure that has seen the log's ends has to see the new ones.
    await query(client, "update erasures set log_ends = null where finished_at is null");
    await recordEndings(client, { action: "dead-letters.retry", letters: [letter] });
    return "appended";
  });
}

/** The partition that it went to, and the offset behind it; undefined where the broker does not say. */
export interface AppendedLetter {
  partition: number;
  end: number | undefined;
}

const PUT_LOG_END = `
  update imports set log_ends = case when $3::bigint is not null then (
    select array_agg(greatest(coalesce(log_ends[n], 0), case when n = $2::int + 1 then $3::bigint else 0 end) order by n)
    from generate_series(1, greatest(cardinality(log_ends), $2::int + 1)) n
  ) end
  where id = $1 and log_ends is not null`;

/** Ends all of them, or none. Answers the ids that belong to no waiting dead letter. */
export async function dropDeadLetters(pg: Pool, ids: readonly number[]): Promise<number[]> {
  return inTransaction(pg, async (client) => {
    const waiting = await query<OwnedLetter>(
      client,
      `select d.id::float8 as id, i.id as "importId", i.owner_id as "ownerId"
       from dead_letters d left join imports i on i.id = d.import_id
       where d.id = any($1::bigint[]) and d.ended_at is null for update of d`,
      [ids],
    );
    const unknown = ids.filter((id) => !waiting.some((found) => found.id === id));
    if (unknown.length > 0) return unknown;
    await endDeadLetters(client, ids);
    await recordEndings(client, { action: "dead-letters.drop", letters: waiting });
    return [];
  });
}

async function endDeadLetters(pg: Postgres, ids: readonly number[]): Promise<void> {
  const text = "update dead_letters set ended_at = now(), record = null where id = any($1::bigint[])";
  await query(pg, text, [ids]);
}

/** Deletes dead letters that ended long enough ago that no replay can store them again. Answers how many. */
export async function deleteEndedDeadLetters(pg: Postgres): Promise<number> {
  const rows = await query<{ deleted: number }>(
    pg,
    `with deleted as (delete from dead_letters where ended_at < now() - interval '90 days' returning 1)
     select count(*)::float8 as deleted from deleted`,
  );
  return rows[0]?.deleted ?? 0;
}

/** A dead letter without an owner is in no audit log. */
async function recordEndings(
  client: Postgres,
  { action, letters }: { action: OperatorAction; letters: readonly OwnedLetter[] },
): Promise<void> {
  for (const { id, importId, ownerId } of letters) {
    if (importId === null || ownerId === null) continue;
    const target = { kind: "import", id: importId, name: `dead letter ${id}` } as const;
    await insertAuditEntry(client, { ownerId, by: OPERATOR, action, target });
  }
}
