import { DEFAULT_QUOTAS } from "../../api/access/quotas.js";
import type { VariableSchema } from "./variable-schema.js";

export const QUOTA_VARIABLES = {
  QUOTAS: {
    type: "string",
    format: "quotas",
    mustBe: `one or more of ${Object.keys(DEFAULT_QUOTAS).join(", ")}, each with its number, such as packages=5000,pixels=200`,
    default: Object.entries(DEFAULT_QUOTAS)
      .map(([name, max]) => `${name}=${max}`)
      .join(","),
    meaning:
      "How many packages, pixels and webhooks an owner may have, how many organizations an account may make and how many " +
      "additional tokens it may have, and how many domains and routes a package. Those left out keep their default. " +
      "What exists above a quota stays.",
  },
} as const satisfies Record<string, VariableSchema>;
