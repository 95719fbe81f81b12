import assert from "node:assert/strict";
import { oneServer } from "../../deploy/stores/clickhouse/connect-shards.js";
import type { FaultWorld } from "../faults/worlds/fault-world.js";
import { makeAllSets } from "../support/stores/make-all-sets.js";
import { keptArtifacts } from "./model.js";
import type { ModelOwner } from "./model-owner.js";

/** Makes the sets of all days, as the job does once they are at rest. Later steps have some of them hold no more. */
export async function makeSets({ clickhouse }: FaultWorld): Promise<void> {
  await clickhouse.ask((client) => makeAllSets({ shards: oneServer(client) }));
}

/** Sets of addresses that hold have those of the events, and no two addresses have the same number. */
export async function compareSets({ clickhouse }: FaultWorld, { model }: ModelOwner): Promise<void> {
  const kept = keptArtifacts(model).map(({ id }) => `'${id}'`);
  assert.deepEqual(await clickhouse.rows(differingSets(kept.join(", "))), [], "sets of addresses");
  const byVersion = differingVersionSets(kept.join(", "));
  assert.deepEqual(await clickhouse.rows(byVersion), [], "sets of addresses by version");
  assert.deepEqual(await clickhouse.rows(SHARED_NUMBERS), [], "numbers of addresses");
}

/** In other words than make-sets.sql: from events, and without sums of daily tables but for which sets hold. */
function differingSets(artifacts: string): string {
  return `SELECT package, date, recounted, bitmapToArray(addresses) AS stored, recounted_people, bitmapToArray(people) AS stored_people
FROM address_sets
INNER JOIN
(
  SELECT package, date, sum(fingerprint) AS fingerprint FROM totals GROUP BY package, date
) AS held USING (package, date, fingerprint)
LEFT JOIN
(
  SELECT artifact AS package, date, arraySort(groupArrayIf(number, live > 0)) AS recounted,
    arraySort(groupArrayIf(number, live_people > 0)) AS recounted_people
  FROM
  (
    SELECT artifact, date, reinterpretAsUInt64(endpoint_id) AS address, sum(sign) AS live, sumIf(sign, automated = '') AS live_people
    FROM events
    WHERE kind = 'package' AND endpoint_id != toFixedString('', 16)
    GROUP BY artifact, date, address
  ) AS downloads
  LEFT JOIN address_numbers USING (address)
  GROUP BY artifact, date
) AS counted USING (package, date)
WHERE package IN (${artifacts}) AND (arraySort(stored) != recounted OR arraySort(stored_people) != recounted_people)`;
}

/** The same of each version that a day with sets by version has. */
function differingVersionSets(artifacts: string): string {
  return `SELECT package, date, version, recounted, bitmapToArray(version_addresses[indexOf(versions, version)]) AS stored,
  recounted_robots, bitmapToArray(version_robots[indexOf(versions, version)]) AS stored_robots
FROM
(
  SELECT artifact AS package, date, version, arraySort(groupArrayIf(number, live > 0)) AS recounted,
    arraySort(groupArrayIf(number, live > 0 AND live_people = 0)) AS recounted_robots
  FROM
  (
    SELECT artifact, date, toString(package_version) AS version, reinterpretAsUInt64(endpoint_id) AS address,
      sum(sign) AS live, sumIf(sign, automated = '') AS live_people
    FROM events
    WHERE artifact IN (${artifacts}) AND kind = 'package' AND endpoint_id != toFixedString('', 16)
    GROUP BY artifact, date, version, address
  ) AS downloads
  LEFT JOIN address_numbers USING (address)
  GROUP BY artifact, date, version
) AS counted
INNER JOIN
(
  SELECT package, date, versions, version_addresses, version_robots
  FROM address_sets
  INNER JOIN
  (
    SELECT package, date, sum(fingerprint) AS fingerprint FROM totals GROUP BY package, date
  ) AS held USING (package, date, fingerprint)
  WHERE notEmpty(versions)
) AS sets USING (package, date)
WHERE arraySort(stored) != recounted OR arraySort(stored_robots) != recounted_robots`;
}

const SHARED_NUMBERS = `SELECT number, groupArray(address) AS addresses FROM address_numbers GROUP BY number HAVING count() > 1
UNION ALL
SELECT max(number) AS number, [address] AS addresses FROM address_numbers GROUP BY address HAVING count() > 1`;
