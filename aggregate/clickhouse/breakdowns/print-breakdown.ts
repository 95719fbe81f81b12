import { BREAKDOWN_LIST } from "../../../schemas/contracts/breakdowns.js";
import { breakdownStatements } from "./breakdown-statements.js";

// Prints the migration of a breakdown that was added to the list:
// npx tsx aggregate/clickhouse/breakdowns/print-breakdown.ts agent > aggregate/clickhouse/<next number>-agents.sql
const name = process.argv[2];
const found = BREAKDOWN_LIST.find((each) => each.name === name);
if (found === undefined || !("values" in found))
  throw new Error(`the list has no breakdown by values with the name ${name ?? "(none given)"}`);
process.stdout.write(breakdownStatements(found));
