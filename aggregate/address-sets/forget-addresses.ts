import type { ClickHouse } from "../../schemas/shards.js";
import { changeNumbers } from "./number-tables.js";

/**
 * Forgets the numbers of these addresses, and first the sets that have them: their numbers may be given again. The caller must
 * be the only one who gives numbers.
 * @param addresses SELECT of 64-bit addresses
 */
export async function forgetAddresses(
  server: ClickHouse,
  { addresses, params }: { addresses: string; params: Record<string, unknown> },
): Promise<void> {
  const answer = await server.query({
    query: `SELECT number FROM address_numbers WHERE address IN (${addresses})`,
    query_params: params,
    format: "JSONEachRow",
  });
  const numbers = (await answer.json<{ number: number }>()).map(({ number }) => number);
  if (numbers.length === 0) return;
  const any = "bitmapBuild({numbers:Array(UInt32)})";
  for (const query of [
    `ALTER TABLE address_sets DELETE WHERE bitmapHasAny(addresses, ${any}) OR bitmapHasAny(people, ${any})`,
    "ALTER TABLE address_numbers DELETE WHERE number IN {numbers:Array(UInt32)}",
  ])
    await changeNumbers(server, { query, params: { numbers } });
}
