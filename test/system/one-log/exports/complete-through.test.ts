import { beforeAll, expect, test } from "vitest";
import type { Statistics } from "../../../../schemas/contracts/statistics.js";
import { makePackage } from "../../../support/imports/make-artifacts.js";
import { api, useToolchain } from "../../../support/program/use-toolchain.js";
import { retract } from "../../../support/imports/import-outcome.js";
import { startUpload } from "../../../support/imports/start-upload.js";

const RANGE = "startDate=2025-03-01&endDate=2025-04-01";
const LINE = '{"$time":"2025-03-11"}\n';

let path: string;

useToolchain({ organizations: ["busy", "quiet"] });
beforeAll(async () => {
  const { id } = await makePackage(api, { organization: "busy", name: "image", libraryType: "docker" });
  path = `/v2/packages/busy/${id}/import`;
});

interface Export {
  completeThrough: string;
  text: string;
}

async function readExport(organization: string): Promise<Export> {
  const answer = await api.request(`/v1/organizations/${organization}/aggregates?${RANGE}`);
  return { completeThrough: answer.headers.get("X-Complete-Through") ?? "", text: await answer.text() };
}

async function readReady(): Promise<string> {
  const answer = await api.request("/readyz");
  return ((await answer.json()) as { complete_through: string }).complete_through;
}

/** Later than whatever the database, on the same clock, has done by now. */
const now = () => new Date(Date.now() + 1).toISOString().replace("Z", "000Z");

test("an export is complete through the start of the oldest import that is not done, for its owner alone", async () => {
  const { upload, started } = await startUpload(api, { owner: "busy", path });
  await upload.send(LINE);
  const [busy, quiet] = await Promise.all([readExport("busy"), readExport("quiet")]);
  expect(busy.completeThrough).toBe(started.created_at);
  expect(await readReady()).toBe(started.created_at);
  expect(quiet.completeThrough > started.created_at).toBe(true);

  const sentAt = now();
  upload.end();
  const exported = async () => {
    const read = await readExport("busy");
    return { complete: read.completeThrough > sentAt, hasLine: read.text.includes('"total":1') };
  };
  await expect.poll(exported).toEqual({ complete: true, hasLine: true });
  expect((await readReady()) > sentAt).toBe(true);
});

test("an export that is complete through a retraction has none of what was retracted", async () => {
  const done = await api.pollToDone(await api.importBody(path, LINE.repeat(5)));
  await retract(api, `/v2/imports/busy/${done.id}`);
  const retractedAt = now();
  let read = await readExport("busy");
  for (; read.completeThrough <= retractedAt; read = await readExport("busy"));
  // The line of the test before is left.
  expect(read.text).toContain('"total":1,');
});

test("statistics that were read a moment ago are read anew once an import is done", async () => {
  const downloads = async () => (await api.get<Statistics>(`/v2/busy/stats?${RANGE}`)).totals.downloads;
  const before = await downloads();
  await api.pollToDone(await api.importBody(path, LINE.repeat(3)));
  expect(await downloads()).toBe(before + 3);
});
