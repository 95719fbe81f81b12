import { beforeAll, expect, test } from "vitest";
import { makeTarget } from "../../support/imports/import-target.js";
import { openUpload } from "../../support/imports/open-upload.js";
import { api, toolchain, useToolchain } from "../../support/program/use-toolchain.js";

const ORGANIZATION = "draining";
const DRAINED = "All acknowledged lines are in ClickHouse and settled.";
const UUID = "[0-9a-f-]{36}";

let path: string;
let body: Buffer;

useToolchain({ organizations: [ORGANIZATION] });
beforeAll(async () => {
  const target = await makeTarget(api, { organization: ORGANIZATION });
  ({ path } = target);
  body = target.bodyOf({ count: 20_000 });
});

test("waits until every import is done", async () => {
  const started = [await api.importBody(path, body), await api.importBody(path, body)];
  expect(await toolchain.admin("drain", "--timeout", "120")).toBe(DRAINED);
  const records = started.map(({ id }) => api.get(`/v2/imports/${ORGANIZATION}/${id}`));
  expect(await Promise.all(records)).toMatchObject([{ status: "done" }, { status: "done" }]);
});

test("gives up after its time, and names an upload that is under way", async () => {
  const upload = openUpload(api, path);
  await upload.send(body.subarray(0, 1_000));
  const left = new RegExp(`After 1 s, .*1 import is not done \\(${UUID}\\)`);
  await expect(toolchain.admin("drain", "--timeout", "1")).rejects.toThrow(left);
  upload.end();
  await upload.answer;
  expect(await toolchain.admin("drain", "--timeout", "120")).toBe(DRAINED);
});

test("finds records that no service reads", async () => {
  expect(await toolchain.kill("SIGTERM")).toBe(0);
  expect(await toolchain.admin("drain")).toBe(DRAINED);
  await using log = await toolchain.openLog();
  await log.append([Buffer.from("left")], { partition: 0 });
  await expect(toolchain.admin("drain", "--timeout", "1")).rejects.toThrow(
    "1 record is waiting in the event log",
  );
});
