import { beforeAll, describe, expect, test } from "vitest";
import type { EventImport } from "../../../../schemas/records/import-store.js";
import { makePackage } from "../../../support/imports/make-artifacts.js";
import { openUpload, type UploadAnswer } from "../../../support/imports/open-upload.js";
import { api, restart, toolchain, useToolchain } from "../../../support/program/use-toolchain.js";
import { newestImport, startUpload } from "../../../support/imports/start-upload.js";

const organization = "repeating";
const RANGE = { startDate: "2025-03-01", endDate: "2025-04-01" };
const LINES = ['{"$time":"2025-03-11"}', "broken", '{"$time":"2025-03-12","$odd":1}'].join("\n");

let path: string;
let otherPath: string;

useToolchain({ organizations: [organization] });
beforeAll(async () => {
  const [one, other] = await Promise.all(
    ["one", "other"].map((name) => makePackage(api, { organization, name, libraryType: "other" })),
  );
  path = `/v2/packages/${organization}/${one?.id}/import`;
  otherPath = `/v2/packages/${organization}/${other?.id}/import`;
});

async function start(to: string, headers: Record<string, string> = {}): Promise<UploadAnswer> {
  const upload = openUpload(api, to, headers);
  await upload.send(LINES);
  upload.end();
  return upload.answer;
}

const withKey = (key: string) => ({ "Idempotency-Key": key });

const newest = () => newestImport(api, organization);

describe("a dry run", () => {
  test("answers with the counts and samples of the import it would be, and imports nothing", async () => {
    const before = await newest();
    const answer = await start(`${path}?dryRun=true`);
    expect(answer).toMatchObject({
      status: 200,
      body: {
        dry_run: true,
        events_total: 3,
        events_successfully_imported: 2,
        events_failed_to_import: 1,
        error_log_sample: [{ line: 2, type: "failed-to-decode" }],
        warning_log_sample: [{ line: 3, type: "unknown-property" }],
      },
    });
    expect(await newest()).toEqual(before);
    expect(await api.readAggregates(organization, RANGE)).toEqual([]);
  });

  test("that is misspelt is refused instead of imported", async () => {
    const before = await newest();
    expect(await start(`${path}?dryrun=true`)).toMatchObject({
      status: 400,
      body: { code: "invalid-query" },
    });
    expect(await newest()).toEqual(before);
  });
});

describe("a start with an Idempotency-Key", () => {
  test("that is repeated answers the first import and counts once", async () => {
    const first = await start(path, withKey("nightly"));
    const { id } = first.body as EventImport;
    expect((await start(path, withKey("nightly"))).body).toMatchObject({ id });
    await api.pollToDone(first.body as EventImport);
    expect(await start(path, withKey("nightly"))).toMatchObject({
      status: 200,
      body: { id, status: "done" },
    });
    const totals = await api.readAggregates(organization, RANGE);
    expect(totals.filter(({ breakdown }) => breakdown === "total").map(({ total }) => total)).toEqual([1, 1]);
  });

  test("is refused for another path", async () => {
    await start(path, withKey("one path"));
    expect(await start(otherPath, withKey("one path"))).toMatchObject({
      status: 422,
      body: {
        code: "idempotency-key-reused",
        // The other path may name a package that this caller may not know.
        message: "This Idempotency-Key was used for another path. Use a new key.",
      },
    });
  });

  test("says so while the first is still uploading, and is free again when that broke off", async () => {
    const at = { owner: organization, path, headers: withKey("broken") };
    const { upload, started: running } = await startUpload(api, at);
    expect(running.status).toBe("importing");
    const refused = await start(path, withKey("broken"));
    expect(refused).toMatchObject({ status: 409, body: { code: "import-in-progress" } });
    expect((refused.body as { message: string }).message).toContain(running.id);
    upload.breakOff();
    await expect.poll(newest).toMatchObject({ id: running.id, status: "aborted" });
    const again = await start(path, withKey("broken"));
    expect(again.status).toBe(200);
    expect((again.body as EventImport).id).not.toBe(running.id);
  });

  test.each([
    ["answers it again when it was aborted by hand, and kept what it had imported", "", true],
    ["is free when the first was aborted and retracted during its upload", "?retract=true", false],
  ])("%s", async (_, query, same) => {
    const key = withKey(`aborted${query}`);
    const { upload, started } = await startUpload(api, { owner: organization, path, headers: key });
    await upload.send(LINES);
    const abort = `/v2/imports/${organization}/${started.id}/abort${query}`;
    expect((await api.request(abort, { method: "POST" })).status).toBe(204);
    expect((await upload.answer).status).toBe(409);
    const { status, body } = await start(path, key);
    expect(status).toBe(200);
    expect((body as EventImport).id === started.id).toBe(same);
  });

  test("survives a crash", async () => {
    const first = await start(path, withKey("crash"));
    await toolchain.kill("SIGKILL");
    await restart();
    expect((await start(path, withKey("crash"))).body).toMatchObject({ id: (first.body as EventImport).id });
  });
});
