import { loadLookupData, type LookupData } from "../../enrich/lookups/load-lookup-data.js";
import { StartFailure } from "../process/start-failure.js";
import type { Config } from "./config.js";

/** Loads the lookup tables of enrichment. Throws StartFailure naming the variables of unusable files. */
export async function readLookups(lookups: Config["lookups"]): Promise<LookupData> {
  try {
    return await loadLookupData(lookups);
  } catch (error) {
    const given = [
      ["CITY_MMDB", lookups.cityMmdb],
      ["ASN_DB", lookups.asnDb],
      ["COMPANY_MMDB", lookups.companyMmdb],
      ["ORGANIZATIONS_CSV", lookups.organizationsCsv],
    ].flatMap(([variable, path]) => (path === undefined ? [] : [variable]));
    throw new StartFailure(`${(error as Error).message} (${given.join(", ")})`, { cause: error });
  }
}
