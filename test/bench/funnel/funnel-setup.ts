import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";

export const OWNERS = 1_000;
/** Each with one owner. The first owner has about 6,000 of them, half of the owners have 70 or fewer. */
export const COMPANIES = 200_000;
const PACKAGES_EACH = 5;
const ROWS_EACH = 20;
const DAYS = 90;

/** Creates owners with packages and a pixel each, and the activity of companies in the last 90 days. */
export async function makeFunnelSetup(pg: Pool, clickhouse: ClickHouseClient): Promise<void> {
  await pg.query(`
    insert into owners (id, kind, name)
    select gen_random_uuid(), 'user', 'bench-' || n from generate_series(0, ${OWNERS - 1}) n`);
  await pg.query(`
    insert into packages (id, owner_id, name, library_type, short_description)
    select gen_random_uuid(), id, 'package ' || n, 'other', 'Made by the benchmark'
    from owners, generate_series(1, ${PACKAGES_EACH}) n where name like 'bench-%'`);
  await pg.query(`
    insert into pixels (id, owner_id, name)
    select gen_random_uuid(), id, 'Made by the benchmark' from owners where name like 'bench-%'`);
  const { rows } = await pg.query<{ place: number; artifacts: string[] }>(`
    select substr(o.name, 7)::integer as place,
      array(select id from packages where owner_id = o.id) || array(select id from pixels where owner_id = o.id) as artifacts
    from owners o where o.name like 'bench-%'`);
  await clickhouse.command({
    query:
      "CREATE OR REPLACE TABLE bench_owners (place UInt32, artifacts Array(UUID)) ENGINE = Join(ANY, LEFT, place)",
  });
  await clickhouse.insert({ table: "bench_owners", values: rows, format: "JSONEachRow" });
  await clickhouse.command({ query: ACTIVITY, clickhouse_settings: { max_insert_threads: "1" } });
}

/** Pseudo-random, the same in every run. */
const ACTIVITY = `
  INSERT INTO company_activity (artifact, kind, date, company, company_domain, total)
  WITH
    intDiv(number, ${ROWS_EACH}) AS company_number,
    toUInt32(${OWNERS} * pow(company_number / ${COMPANIES}, 2)) AS place,
    cityHash64(number) AS random,
    random % ${PACKAGES_EACH + 1} + 1 AS nth
  SELECT
    joinGet('bench_owners', 'artifacts', place)[nth] AS artifact,
    if(nth > ${PACKAGES_EACH}, 'pixel', 'package') AS kind,
    today() - intDiv(random, 100) % ${DAYS} AS date,
    concat('Company ', toString(company_number)) AS company,
    concat('company-', toString(company_number), '.example') AS company_domain,
    intDiv(random, 10000) % 3 + 1 AS total
  FROM numbers(${COMPANIES * ROWS_EACH})`;
