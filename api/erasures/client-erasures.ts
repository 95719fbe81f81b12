import type { ClientIdKind, ErasedNow, OpenErasure } from "../../schemas/contracts/erasure.js";
import { NIL_UUID } from "../../schemas/formats.js";
import { type Postgres, query } from "../postgres/query.js";
import { IS_UNSETTLED } from "../imports/import-record.js";

/** Decrypts the id of a client for its erasure. */
interface Opener {
  open(ciphertext: Uint8Array, erasure: string): string;
}

const DUE = "finished_at is null and due_at <= now()";

export async function dueOwners(pg: Postgres): Promise<string[]> {
  const text = `select distinct owner_id as id from erasures where ${DUE}`;
  return (await query<{ id: string }>(pg, text)).map(({ id }) => id);
}

/** An import that never ends must not delay an erasure for ever. */
export async function dueErasures(pg: Postgres, ownerId: string, sealer: Opener): Promise<OpenErasure[]> {
  const text = `
    select id, kind, client, (extract(epoch from asked_at) * 1000)::float8 as "askedAt",
      asked_at < now() - interval '1 day' or not exists (
        select from imports i
        where i.owner_id = e.owner_id and i.created_at < e.asked_at
          and ${IS_UNSETTLED}) as "importsSettled"
    from erasures e where owner_id = $1 and ${DUE} order by id`;
  const rows = await query<DueRow>(pg, text, [ownerId]);
  return rows.map(({ client, askedAt, ...erasure }) => ({
    ...erasure,
    askedAt: Math.ceil(askedAt),
    clientId: sealer.open(client, erasure.id),
  }));
}

interface DueRow {
  id: string;
  kind: ClientIdKind;
  client: Buffer;
  askedAt: number;
  importsSettled: boolean;
}

export async function artifactsOf(pg: Postgres, ownerId: string): Promise<string[]> {
  const text = `
    select id from packages where owner_id = $1 union all select id from pixels where owner_id = $1`;
  return (await query<{ id: string }>(pg, text, [ownerId])).map(({ id }) => id);
}

export async function importsWithRefusedLines(
  pg: Postgres,
  ownerId: string,
  { after = NIL_UUID, limit }: { after: string | undefined; limit: number },
): Promise<string[]> {
  const text = `
    select id from imports where owner_id = $1 and events_failed > 0 and id > $2 order by id limit $3`;
  return (await query<{ id: string }>(pg, text, [ownerId, after, limit])).map(({ id }) => id);
}

export async function putFound(pg: Postgres, id: string, { events, lines }: ErasedNow): Promise<void> {
  const text = `
    update erasures set events = $2, lines = lines + $3, rounds = rounds + 1,
      due_at = now() + make_interval(secs => least(600, 2 ^ least(rounds, 10)))
    where id = $1`;
  await query(pg, text, [id, events, lines]);
}

export async function putWaiting(pg: Postgres, id: string): Promise<void> {
  await query(pg, "update erasures set rounds = 0, due_at = now() + interval '5 seconds' where id = $1", [
    id,
  ]);
}

export async function putFinished(pg: Postgres, id: string): Promise<void> {
  await query(pg, "update erasures set client = null, finished_at = now() where id = $1", [id]);
}
