import { expect, test } from "vitest";
import type { EventImport } from "../../../schemas/records/import-store.js";
import { makePackage } from "../../support/imports/make-artifacts.js";
import { api, restart, toolchain, useToolchain } from "../../support/program/use-toolchain.js";

const ORGANIZATION = "replayed";
const ROWS = 12_000;
const DAY = { startDate: "2025-03-10", endDate: "2025-03-11" };

useToolchain({ organizations: [ORGANIZATION] });

test("a program that is killed once it has answered reads every chunk of CSV with its header", async () => {
  const image = await makePackage(api, { organization: ORGANIZATION, name: "image", libraryType: "docker" });
  const rows = Array.from({ length: ROWS }, (_, row) => `${row},${row % 4},${"x".repeat(200)},2025-03-10`);
  const path = `/v2/packages/${ORGANIZATION}/${image.id}/import?format=csv`;
  const body = `$unique_id,$version,note,$time\n${rows.join("\n")}`;
  const answer = await api.request(path, { method: "POST", body });
  expect(answer.status).toBe(200);
  const started = (await answer.json()) as EventImport;
  await toolchain.kill("SIGKILL");

  await restart();
  const record = await api.pollToDone(started);
  expect(record).toMatchObject({ events_successfully_imported: ROWS, events_failed_to_import: 0 });
  const aggregates = await api.readAggregates(ORGANIZATION, DAY);
  const versions = aggregates.filter(({ breakdown }) => breakdown === "version");
  expect(versions.map(({ version, total }) => [version, total])).toEqual(
    ["0", "1", "2", "3"].map((version) => [version, ROWS / 4]),
  );
});
