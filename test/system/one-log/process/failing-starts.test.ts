import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeDataDir } from "../../../support/stores/prepared-stores.js";
import { canLoseRights, startFailing, WITHOUT_RIGHTS } from "../../../support/program/start-failing.js";
import { useFolder } from "../../../support/use-folder.js";

const folder = useFolder("failing-starts");

describe("a program that cannot start says why in one line, and ends with status 1:", () => {
  test("its city database is not there", async () => {
    const DATA_DIR = await makeDataDir(join(folder, "city"));
    const ended = await startFailing({ DATA_DIR, CITY_MMDB: "/nowhere/city.mmdb" });
    const sentence = "The city database /nowhere/city.mmdb cannot be read";
    expect(ended).toEqual({ status: 1, said: [expect.stringContaining(sentence)] });
  });

  test("every wrong variable at once", async () => {
    const wrong = {
      DATA_DIR: join(folder, "wrong"),
      PORT: "http",
      ENRICH_WORKERS: "many",
      FUNNEL_SCHEDULE: "daily",
      LOG_LEVEL: "loud",
      ROLES: "api,cook",
    };
    const { status, said } = await startFailing(wrong);
    expect(status).toBe(1);
    expect(said.sort()).toEqual([
      expect.stringContaining("ENRICH_WORKERS must be"),
      expect.stringContaining("FUNNEL_SCHEDULE must be"),
      expect.stringContaining("LOG_LEVEL must be one of"),
      expect.stringContaining("PORT must be a port from 0 to 65535"),
      expect.stringContaining("ROLES must be one or more of"),
    ]);
  });

  test("its directory is a file", async () => {
    const file = join(folder, "file");
    await writeFile(file, "");
    for (const path of [file, join(file, "below")]) {
      const ended = await startFailing({ DATA_DIR: path });
      expect(ended).toEqual({ status: 1, said: [expect.stringMatching(/is not a directory.*DATA_DIR/)] });
    }
  });

  test.skipIf(!canLoseRights())("its directory cannot be written", async () => {
    const path = join(folder, "read-only");
    await mkdir(path, { mode: 0o500 });
    const ended = await startFailing({ DATA_DIR: join(path, "data") }, WITHOUT_RIGHTS);
    expect(ended).toEqual({ status: 1, said: [expect.stringContaining("cannot be written by this user")] });
  });
});
