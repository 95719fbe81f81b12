import { expect, test } from "vitest";
import { aggregateTables } from "../../../../deploy/demo/aggregate-tables.js";
import type { AggregateV1 } from "../../../../schemas/contracts/aggregate.js";

const scope = { package: "11111111-1111-4111-8111-111111111111", date: "2025-06-01" };

test("each breakdown becomes a table: the newest day first, values by their sum over all days", () => {
  const lines: AggregateV1[] = [
    { ...scope, breakdown: "client", client: "curl", client_version: "8.5.0", total: 1 },
    { ...scope, breakdown: "company", company_name: "Acme", company_domain: "acme.example", total: 2 },
    { ...scope, breakdown: "company", company_name: "Umbrella", total: 6 },
    { ...scope, breakdown: "total", total: 9, unique_total: 4 },
    { ...scope, date: "2025-06-02", breakdown: "total", total: 2, unique_total: 1 },
    { ...scope, date: "2025-06-02", breakdown: "company", company_name: "Umbrella", total: 1 },
    { ...scope, date: "2025-06-02", breakdown: "variable", variable: "os", value: "linux", total: 1 },
  ];
  const text = aggregateTables(lines, { rowsMax: 5 });
  expect(text.split("\n").map((line) => line.trim().replace(/ {2,}/g, " "))).toEqual([
    "Downloads and unique IP addresses by day",
    "2025-06-02 2 1 unique IP",
    "2025-06-01 9 4 unique IPs",
    "",
    "Downloads by company",
    "Umbrella 7 77.8 %",
    "Acme (acme.example) 2 22.2 %",
    "",
    "Downloads by client",
    "curl 8.5.0 1 100.0 %",
    "",
    "Downloads by custom variable",
    "os = linux 1 100.0 %",
    "",
  ]);
});

test("a long table ends with the number of omitted lines", () => {
  const countries = ["DE", "FR", "JP", "US"];
  const lines = countries.map((country, index) => {
    return { ...scope, breakdown: "country" as const, country, total: index + 1 };
  });
  const rows = aggregateTables(lines, { rowsMax: 2 }).split("\n");
  expect([rows[1]?.trim().slice(0, 2), rows[2]?.trim().slice(0, 2), rows[3]?.trim()]).toEqual([
    "US",
    "JP",
    "... and 2 more",
  ]);
});
