import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { onPostgres } from "../../../support/stores/on-postgres.js";
import { makeDataDir, preparedStores } from "../../../support/stores/prepared-stores.js";
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

  test("its PostgreSQL has another encoding than UTF8", async () => {
    await onPostgres(preparedStores()?.postgresUrl, (client) =>
      client.query("create database in_ascii encoding 'SQL_ASCII' locale 'C' template template0"),
    );
    const url = new URL(preparedStores()?.postgresUrl ?? "");
    url.pathname = "/in_ascii";
    const SECRET_KEY = Buffer.alloc(32).toString("base64");
    const ended = await startFailing({ DATA_DIR: join(folder, "ascii"), DATABASE_URL: url.href, SECRET_KEY });
    const sentence = /DATABASE_URL cannot be prepared: the database uses the encoding SQL_ASCII/;
    expect(ended).toEqual({ status: 1, said: [expect.stringMatching(sentence)] });
  });

  test("a migration fails, and the reason is the server's", async () => {
    const url = new URL(preparedStores()?.postgresUrl ?? "");
    url.pathname = "/has_a_table";
    await onPostgres(preparedStores()?.postgresUrl, (client) =>
      client.query("create database has_a_table template template0"),
    );
    await onPostgres(url.href, (client) => client.query("create table accounts ()"));
    const SECRET_KEY = Buffer.alloc(32).toString("base64");
    const ended = await startFailing({ DATA_DIR: join(folder, "table"), DATABASE_URL: url.href, SECRET_KEY });
    const sentence = /cannot be prepared: migration schema.sql failed: relation "accounts" already exists/;
    expect(ended).toEqual({ status: 1, said: [expect.stringMatching(sentence)] });
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
    expect(ended).toEqual({ status: 1, said: [expect.stringContaining("cannot write to")] });
  });
});
