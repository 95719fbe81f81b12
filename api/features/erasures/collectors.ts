import { type Postgres, query } from "../../base/postgres/query.js";

/** At the start of a collector, before it answers, and whenever what it received before is in the event log. */
export async function putFlushed(pg: Postgres, collector: string): Promise<void> {
  const text = `
    insert into collectors (name) values ($1)
    on conflict (name) do update set flushes = collectors.flushes + 1, seen_at = now()`;
  await query(pg, text, [collector]);
}

/** It has appended everything, or has lost it. */
export async function removeCollector(pg: Postgres, collector: string): Promise<void> {
  await query(pg, "delete from collectors where name = $1", [collector]);
}
