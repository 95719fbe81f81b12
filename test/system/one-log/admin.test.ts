import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { migratePostgres } from "../../../api/base/postgres/migrate-postgres.js";
import { adminCommand } from "../../../deploy/commands/admin.js";
import { openDataDir } from "../../../deploy/process/data-dir.js";
import { connectPostgres } from "../../../deploy/stores/connect-postgres.js";
import { SECRET_KEY } from "../../support/api/management-api.js";
import { api, postgres, useApi } from "../../support/api/use-world.js";
import { spawnProgram } from "../../support/program/toolchain-process.js";

useApi();

type Env = Record<string, string>;
const beside = (): Env => ({ DATABASE_URL: postgres.url, SECRET_KEY: SECRET_KEY.toString("base64") });

async function admin(env: Env, ...words: string[]) {
  const out: string[] = [];
  const errors: string[] = [];
  const notes: string[] = [];
  const command = adminCommand({
    env,
    print: (line) => out.push(line),
    note: (line) => notes.push(line),
    fail: (line) => errors.push(line),
  });
  await command.parseAsync(words, { from: "user" });
  return { out, errors, notes };
}

/** Words that make an account. */
function making(username: string, email = `${username.toLowerCase()}@example.org`): string[] {
  return ["create-account", "--username", username, "--email", email];
}

describe("admin", () => {
  test("makes an account and prints a token that works, alone", async () => {
    const { out, errors } = await admin(beside(), ...making("Ada"));
    expect(errors).toEqual([]);
    expect(out).toEqual([expect.stringMatching(/^mtk_[\w-]{43}$/)]);
    expect((await api.call(out[0] ?? "", "GET /v1/packages")).status).toBe(200);
    const rotated = await admin(beside(), "rotate-token", "ada");
    expect((await api.call(out[0] ?? "", "GET /v1/packages")).status).toBe(401);
    expect((await api.call(rotated.out[0] ?? "", "GET /v1/packages")).status).toBe(200);
  });

  test("lists accounts, and grants and revokes export without minding case", async () => {
    await admin(beside(), ...making("Bob"));
    const { out } = await admin(beside(), "grant-export", "BOB");
    expect(out).toEqual(["Export enabled for Bob."]);
    const granted = await admin(beside(), "list-accounts");
    expect(granted.out).toContainEqual(
      expect.stringMatching(/^Bob\tbob@example\.org\t\S+Z\texport\t-\tenabled$/),
    );
    expect(granted.out[0]).toBe("username\temail\tcreated\texport\torganizations\tstate");
    expect((await admin(beside(), "list-grants")).out).toEqual(["name\tkind", "Bob\tuser"]);
    expect(JSON.parse((await admin(beside(), "list-grants", "--json")).out.join(""))).toEqual([
      { name: "Bob", kind: "user" },
    ]);
    expect((await admin(beside(), "revoke-export", "bob")).out).toEqual(["Export disabled for Bob."]);
    const revoked = await admin(beside(), "list-accounts");
    expect(revoked.out).toContainEqual(expect.stringMatching(/^Bob\t.*\tno-export\t-\tenabled$/));
  });

  test("lists the organizations of an account with its roles, also as JSON", async () => {
    const { out } = await admin(beside(), ...making("Hal"));
    const organization = { name: "hal-team", description: "Hal", billingEmail: "hal@example.org" };
    await api.call(out[0] ?? "", "POST /v1/organizations", organization);
    const listed = await admin(beside(), "list-accounts", "--json");
    expect(JSON.parse(listed.out.join(""))).toContainEqual({
      username: "Hal",
      email: "hal@example.org",
      createdAt: expect.stringMatching(/Z$/) as string,
      exportEnabled: false,
      disabled: false,
      organizations: [{ name: "hal-team", role: "owner" }],
    });
    const table = await admin(beside(), "list-accounts");
    expect(table.out).toContainEqual(expect.stringMatching(/^Hal\t.*\tno-export\thal-team:owner\tenabled$/));
  });

  test("is a program that prints its result alone, and ends with status 1 and a sentence when it fails", async () => {
    const made = await runProgram(...making("Fay"));
    expect(made).toEqual({
      status: 0,
      out: expect.stringMatching(/^mtk_[\w-]{43}\n$/) as string,
      errors: "",
    });
    const refused = await runProgram("grant-export", "nobody");
    expect(refused).toEqual({
      status: 1,
      out: "",
      errors: "The user or organization nobody does not exist.\n",
    });
  });

  async function runProgram(...words: string[]) {
    const program = spawnProgram(["admin", ...words], beside());
    const [out, errors, [status]] = await Promise.all([
      text(program.stdout as Readable),
      text(program.stderr as Readable),
      once(program, "close") as Promise<[number | null]>,
    ]);
    return { status, out, errors };
  }

  test.each([
    [making("a b", "x"), /^The account was not created: username must .*; email must /],
    [["rotate-token", "nobody"], /^The user nobody does not exist\.$/],
    [["grant-export", "nobody"], /^The user or organization nobody does not exist\.$/],
  ])("says in a sentence why %j cannot be done", async (words, sentence) => {
    const { out, errors } = await admin(beside(), ...words);
    expect(out).toEqual([]);
    expect(errors).toEqual([expect.stringMatching(sentence)]);
  });

  test("removes an organization that owns nothing, and says what has to go first", async () => {
    const { out } = await admin(beside(), ...making("Ivy"));
    const token = out[0] ?? "";
    const organization = { name: "Ivy-Team", description: "Ivy", billingEmail: "ivy@example.org" };
    await api.call(token, "POST /v1/organizations", organization);
    const made = await api.call(token, "POST /v1/organizations/ivy-team/packages", {
      name: "web",
      shortDescription: "",
    });
    expect(made.status).toBe(201);
    const owning = await admin(beside(), "remove-organization", "ivy-team");
    expect(owning.errors).toEqual([
      "Ivy-Team owns the packages web: delete them first. Nothing was removed.",
    ]);
    expect((await api.call(token, "DELETE /v1/packages/web")).status).toBe(204);
    const erasing = await admin(beside(), "remove-organization", "ivy-team");
    expect(erasing.errors).toEqual([
      "Ivy-Team has events that are being erased: wait a few minutes. Nothing was removed.",
    ]);
    // As the job does that erases them.
    await postgres.pg.query("update deleted_artifacts set erased_at = now()");
    const removed = await admin(beside(), "remove-organization", "ivy-team");
    expect(removed).toMatchObject({ out: ["Removed organization Ivy-Team."], errors: [] });
    expect((await api.call(token, "GET /v1/organizations/ivy-team")).status).toBe(404);
    const log = await api.call(token, "GET /v2/ivy/audit");
    expect(log.body).toMatchObject({
      audit_entries: [
        { action: "organization.remove", target: { kind: "organization", name: "Ivy-Team" } },
        {},
      ],
    });
    const again = await admin(beside(), "remove-organization", "ivy-team");
    expect(again.errors).toEqual(["The organization ivy-team does not exist."]);
  });

  test("refuses a name or an address that is taken", async () => {
    await admin(beside(), ...making("carl"));
    const name = await admin(beside(), ...making("CARL", "c@example.org"));
    const email = await admin(beside(), ...making("c", "Carl@example.org"));
    expect(name.errors).toEqual(["The name CARL is taken."]);
    expect(email.errors).toEqual(["The email address Carl@example.org is taken."]);
  });

  test("does not make tokens under another key than the database's", async () => {
    await admin(beside(), "migrate");
    const { errors } = await admin(
      { ...beside(), SECRET_KEY: randomBytes(32).toString("base64") },
      "list-accounts",
    );
    expect(errors).toEqual([expect.stringMatching(/^SECRET_KEY is not the key/)]);
  });

  test("says what is wrong with the environment or the database", async () => {
    const wrong = await admin({ PORT: "http" }, "list-accounts");
    expect(wrong.errors).toEqual([expect.stringContaining("PORT")]);
    const gone = await admin({ ...beside(), DATABASE_URL: "postgres://u@127.0.0.1:1/none" }, "list-accounts");
    expect(gone.errors).toEqual([expect.stringContaining("ECONNREFUSED")]);
  });

  test("works beside a running server, whose address and key the data directory has", async () => {
    const DATA_DIR = await mkdtemp(join(tmpdir(), "maintainer-toolchain-admin-"));
    const running = await openDataDir(DATA_DIR);
    const starting = await admin({ DATA_DIR }, "list-accounts");
    expect(starting.errors).toEqual([expect.stringContaining("is in use by process")]);
    await running.writeEndpoints({ postgres: postgres.url });
    const keyless = await admin({ DATA_DIR }, "list-accounts");
    expect(keyless.errors).toEqual([expect.stringContaining("SECRET_KEY must be set")]);
    await writeFile(join(DATA_DIR, "secret-key"), SECRET_KEY.toString("base64"), { mode: 0o600 });
    expect(await admin({ DATA_DIR }, "list-accounts")).toMatchObject({ errors: [] });
    await admin({ DATA_DIR }, ...making("Gus"));
    const nowhere = await admin({ DATA_DIR }, "sign-in-link", "gus");
    expect(nowhere).toMatchObject({
      out: [],
      errors: [expect.stringMatching(/^The service is not running .*--url/)],
    });
    await running.writeEndpoints({ postgres: postgres.url, api: "http://[::]:8080" });
    const linked = await admin({ DATA_DIR }, "sign-in-link", "gus");
    const link = /^http:\/\/\[::1\]:8080\/dashboard\/sign-in\/link#key=mtl_[\w-]{43}$/;
    expect(linked).toEqual({
      out: [expect.stringMatching(link)],
      errors: [],
      notes: [`Using DATA_DIR ${DATA_DIR} (service is running).`],
    });
    expect((await admin({ DATA_DIR }, "migrate")).out).toEqual([
      "PostgreSQL is up to date.",
      "The embedded ClickHouse will be migrated when the service starts.",
    ]);
    await running[Symbol.asyncDispose]();
    await rm(DATA_DIR, { recursive: true });
  });

  test("makes no installation in a folder without data, unless it is told to", async () => {
    const parent = await mkdtemp(join(tmpdir(), "maintainer-toolchain-admin-"));
    const DATA_DIR = join(parent, "data");
    const account = making("Eve");
    const mistyped = await admin({ DATA_DIR }, ...account);
    expect(mistyped).toEqual({
      out: [],
      errors: [expect.stringContaining(`DATA_DIR ${DATA_DIR} has no data of this service`)],
      notes: [],
    });
    expect(existsSync(DATA_DIR)).toBe(false);
    const made = await admin({ DATA_DIR }, ...account, "--new");
    const notes = [`Using DATA_DIR ${DATA_DIR} (service is not running).`];
    expect(made).toEqual({ out: [expect.stringMatching(/^mtk_/)], errors: [], notes });
    const listed = await admin({ DATA_DIR }, "list-accounts");
    expect(listed.out).toContainEqual(expect.stringMatching(/^Eve\t/));
    await rm(parent, { recursive: true });
  });
});

describe("migrations", () => {
  test("may be run on a new database by several processes at once, and again", async () => {
    await postgres.pg.query("create schema fresh");
    const url = `${postgres.url}?options=-c%20search_path%3Dfresh`;
    const fresh = connectPostgres({ url, connectionsMax: 4, log: pino({ level: "silent" }) });
    await Promise.all([migratePostgres(fresh), migratePostgres(fresh), migratePostgres(fresh)]);
    await migratePostgres(fresh);
    const { rows } = await fresh.query("select name from migrations");
    expect(rows).toEqual([{ name: "schema.sql" }]);
    await fresh.end();
  });

  test("refuse a database that is newer than the program", async () => {
    await postgres.pg.query("insert into migrations (name, checksum) values ('999-later.sql', '')");
    await expect(migratePostgres(postgres.pg)).rejects.toThrow("the database is newer than this program");
    await postgres.pg.query("delete from migrations where name = '999-later.sql'");
  });

  test("refuse a database from before the first release, and leave it as it is", async () => {
    await postgres.pg.query("create schema older");
    await postgres.pg.query("create table older.schema_migrations (number integer)");
    const url = `${postgres.url}?options=-c%20search_path%3Dolder`;
    const older = connectPostgres({ url, connectionsMax: 1, log: pino({ level: "silent" }) });
    await expect(migratePostgres(older)).rejects.toThrow(
      "it is older than the first release: export the data",
    );
    const { rows } = await older.query("select to_regclass('migrations') as made");
    expect(rows).toEqual([{ made: null }]);
    await older.end();
  });
});
