import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";
import { copyFile, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeEach, describe, expect, test } from "vitest";
import type { EventImport } from "../../../../schemas/records/import-store.js";
import { makeOrganization, makePackage, makePixel } from "../../../support/imports/make-artifacts.js";
import { api, joinProgram, program } from "../../../support/program/use-toolchain.js";
import { useFolder } from "../../../support/use-folder.js";

const PROGRAM = resolve("dist/deploy/main.js");
const LOGS = resolve("test/fixtures/access-logs");
const folder = useFolder("import-command");
const GOOD = '{"$time":"2025-03-10T12:00:00Z","$unique_id":"a"}';
const BAD = '{"$time":"yesterday","$unique_id":"b"}';

joinProgram("import-command-ada");

/** Each test imports into an organization of its own. */
let owner: string;
let owners = 0;

beforeEach(async () => {
  owner = `import-command-${++owners}`;
  await makeOrganization(api, owner);
  await makePackage(api, { organization: owner, name: "@acme/tool", libraryType: "other" });
});

interface Ended {
  status: number;
  out: string;
  err: string;
}

function environment(): NodeJS.ProcessEnv {
  return { ...process.env, MAINTAINER_URL: program.api, MAINTAINER_TOKEN: api.token };
}

/** Runs `maintainer-toolchain import`, with `input` on its standard input. */
function run(args: readonly string[], { input = "", env = {} } = {}): Promise<Ended> {
  return new Promise((end) => {
    const options = { cwd: folder, env: { ...environment(), ...env } };
    const child = execFile(PROGRAM, ["import", ...args], options, (error, out, err) =>
      end({ status: typeof error?.code === "number" ? error.code : 0, out, err }),
    );
    child.stdin?.end(input);
  });
}

const saying = (text: string) => expect.stringContaining(text) as string;

/** Imports into the package of the test. */
const send = (files: string | readonly string[], ...options: string[]) =>
  run([...[files].flat(), "--to", `${owner}/@acme/tool`, ...options]);

async function write(name: string, content: string | Buffer): Promise<string> {
  await writeFile(join(folder, name), content);
  return name;
}

async function newestImport(): Promise<EventImport | undefined> {
  const { event_imports } = await api.get<{ event_imports: EventImport[] }>(`/v2/imports/${owner}`);
  return event_imports[0];
}

/** The events of a day, in all. */
async function totalOf(startDate: string): Promise<number | undefined> {
  await program.admin("grant-export", owner);
  const endDate = new Date(Date.parse(startDate) + 86_400_000).toISOString().slice(0, 10);
  const found = await api.readAggregates(owner, { startDate, endDate });
  return found.find(({ breakdown }) => breakdown === "total")?.total;
}

describe("a file of events", () => {
  test("is imported into the package of that name, and status 0 says that all of it was", async () => {
    const file = await write("good.ndjson", `${GOOD}\n`);
    expect(await send(file)).toMatchObject({
      status: 0,
      out: expect.stringMatching(
        /^good\.ndjson: 1 event imported, 0 lines rejected\. Import [0-9a-f-]{36}\.\n$/,
      ) as string,
      err: "",
    });
    expect(await newestImport()).toMatchObject({
      package: { name: "@acme/tool" },
      status: "done",
      events_total: 1,
    });
  });

  test("with refused lines ends with status 2, says which and why, and keeps them", async () => {
    const file = await write("mixed.ndjson", `${GOOD}\n${BAD}\n`);
    const { status, out } = await send(file, "--rejected", "rejected.ndjson");
    expect(status).toBe(2);
    expect(out).toContain("1 event imported, 1 line rejected");
    expect(out).toContain("line 2: $time must be");
    expect(await readFile(join(folder, "rejected.ndjson"), "utf8")).toBe(`${BAD}\n`);
  });

  test.each([
    [`${BAD}\n${BAD}\n`, 2, "every line was rejected"],
    ["\n", 0, "the body has no lines"],
  ])("of which nothing is imported says so: %j", async (content, wanted, reason) => {
    const file = await write("none.ndjson", content);
    const { status, out } = await send(file);
    expect(status).toBe(wanted);
    expect(out).toContain(`  Nothing was imported: ${reason}.\n`);
  });

  test("that was already imported is imported once, until it is sent --again", async () => {
    const file = await write("twice.ndjson", `${GOOD}\n`);
    await send(file);
    const first = await newestImport();
    expect(await send(file)).toMatchObject({
      status: 0,
      out: saying("already sent"),
    });
    expect(await newestImport()).toEqual(first);
    expect((await send(file, "--again")).status).toBe(0);
    expect((await newestImport())?.id).not.toBe(first?.id);
  });

  test("that was sent to another package is imported into this one as well, once", async () => {
    await makePackage(api, { organization: owner, name: "other", libraryType: "other" });
    const file = await write("both.ndjson", `${GOOD}\n`);
    await send(file);
    const other = ["--to", `${owner}/other`];
    expect(await run([file, ...other])).toMatchObject({ status: 0 });
    const second = await newestImport();
    expect(second).toMatchObject({ package: { name: "other" }, events_successfully_imported: 1 });
    expect((await run([file, ...other])).out).toContain("already sent");
    expect(await newestImport()).toEqual(second);
  });

  test("may be packed, may be several, and may be standard input", async () => {
    const one = await write("one.ndjson.gz", gzipSync(`${GOOD}\n`));
    const two = await write("two.ndjson", '{"$time":"2025-03-11","$unique_id":"c"}\n');
    expect((await send([one, two])).out.match(/1 event imported/g)).toHaveLength(2);
    const piped = await run(["-", "--to", `${owner}/@acme/tool`], { input: GOOD });
    expect(piped).toMatchObject({
      status: 0,
      out: saying("standard input: 1 event"),
    });
  });

  test("may be tried first: nothing is imported, and what would be rejected is said", async () => {
    const file = await write("try.ndjson", `${GOOD}\n${BAD}\n`);
    const { status, out } = await send(file, "--dry-run");
    expect(status).toBe(2);
    expect(out).toContain("1 event would be imported, 1 line would be rejected. Nothing was imported.");
    expect(await newestImport()).toBeUndefined();
  });

  test("with defects is imported, and says how many lines lost something, and what", async () => {
    const warned = `{"$time":"2025-03-10","$remote_address":"nowhere","$own":1}`;
    const file = await write("warned.ndjson", `${warned}\n${warned}\n${GOOD}\n`);
    const tried = await send(file, "--dry-run");
    const warnings = [
      "  line 1, warning: $remote_address is not an IP address",
      "  line 1, warning: Unknown property $own",
      "  line 2, warning: $remote_address is not an IP address",
      "  line 2, warning: Unknown property $own",
    ].join("\n");
    const counts = "3 events would be imported, 2 of them with warnings, 0 lines would be rejected.";
    expect(tried).toMatchObject({ status: 0, out: saying(counts) });
    expect(tried.out).toContain(warnings);
    const sent = await send(file);
    expect(sent).toMatchObject({
      status: 0,
      out: saying("3 events imported, 2 of them with warnings, 0 lines rejected."),
    });
    expect(sent.out).toContain(warnings);
    expect(await newestImport()).toMatchObject({ events_successfully_imported: 3, events_with_warnings: 2 });
  });

  test("is told as JSON, an object a file, with --json", async () => {
    const file = await write("json.ndjson", `${GOOD}\n${BAD}\n`);
    const { status, out } = await send(file, "--json");
    expect(status).toBe(2);
    expect(JSON.parse(out)).toMatchObject({
      file: "json.ndjson",
      status: "done",
      events_failed_to_import: 1,
    });
  });

  test("goes to a pixel, or to whatever each line names", async () => {
    const pixel = await makePixel(api, { owner, name: "readme" });
    const file = await write("views.ndjson", `${GOOD}\n`);
    expect((await run([file, "--to", owner, "--pixel", pixel.id])).status).toBe(0);
    expect(await newestImport()).toMatchObject({ pixel: { name: "readme" } });
    const named = await write("named.ndjson", `{"$pixel":"${pixel.id}","$time":"2025-03-10"}\n`);
    expect((await run([named, "--to", owner, "--no-wait"])).out).toContain("sent as import");
  });
});

describe("other formats", () => {
  test("an access log: downloads with the variables of their path", async () => {
    await copyFile(join(LOGS, "nginx.txt"), join(folder, "access.log"));
    const path = "/releases/{name}-{version}.tar.gz";
    expect(await send("access.log", "--format", "combined", "--path", path)).toMatchObject({
      status: 0,
      out: saying("4 events imported, 0 lines rejected, and 4 lines skipped (not a download)."),
    });
  });

  test("a log of which nothing is a download says so, and one without --format which formats there are", async () => {
    const log = await readFile(join(LOGS, "nginx.txt"), "utf8");
    const file = await write("access.log", log);
    const none = await send(file, "--format", "combined", "--path", "/other/{version}");
    expect(none.status).toBe(0);
    expect(none.out).toMatch(
      /Nothing was imported: no line is a download whose path matches --path \/other\/{version} \(8 lines read\)\.\n$/,
    );
    const unnamed = await send(file);
    expect(unnamed.status).toBe(1);
    expect(unnamed.err).toBe("access.log looks like combined. Add --format combined.\n");
  });

  test("a log that has grown: what was already imported counts once", async () => {
    const log = await readFile(join(LOGS, "nginx.txt"), "utf8");
    for (const grown of [log, log + log]) await send(await write("grown.log", grown), "--format", "combined");
    // Five of its requests are downloads.
    expect(await totalOf("2026-11-23")).toBe(10);
  });

  test("CSV: wrong rows are named by their line", async () => {
    const file = await write("events.csv", "$time,$unique_id,channel\n2025-03-10,c,x\n2025-03-10,d\n");
    const { status, out } = await send(file, "--format", "csv");
    expect(status).toBe(2);
    expect(out).toContain("line 3: Invalid CSV row: it has 2 cells, the header has 3");
  });
});

test("says that refused rows of a table lack their header", async () => {
  const { status, out } = await run(["--help"]);
  expect(status).toBe(0);
  expect(out).toContain("Before you send rejected rows of a CSV file again, add the header");
});

describe("what goes wrong is said in a sentence, with status 1", () => {
  test.each([
    ["a file that is not there", ["nowhere", "--to", "x/y"], "The file nowhere does not exist."],
    ["a folder", [".", "--to", "x/y"], ". is a folder. Pass the files in it instead."],
    ["an owner that is not there", ["-", "--to", "nobody"], "The owner nobody does not exist"],
    [
      "a wrong token",
      ["-", "--to", "x", "--token", "wrong"],
      "uses the token from --token, MAINTAINER_TOKEN",
    ],
    ["no service", ["-", "--to", "x", "--url", "http://127.0.0.1:1"], "cannot be reached"],
    ["no URL", ["-", "--to", "x", "--url", "maintainer"], "--url maintainer is not a URL"],
    ["a target without a package", ["-", "--to", "x/"], "--to x/ must be an owner"],
    ["a log for no package", ["-", "--to", "x", "--format", "s3"], "Add it: --to x/PACKAGE."],
    [
      "a pattern that is none",
      ["-", "--to", "x/y", "--format", "s3", "--path", "tool"],
      "--path tool must begin with /.",
    ],
    [
      "a pattern for no log",
      ["-", "--to", "x/y", "--path", "/tool"],
      "Add --format combined, cloudfront, s3, caddy, or traefik.",
    ],
    ["an unknown format", ["-", "--to", "x/y", "--format", "xml"], "Allowed choices are ndjson"],
  ])("%s", async (_, args, sentence) => {
    const ended = await run(args);
    expect(ended).toMatchObject({ status: 1, err: saying(sentence) });
    expect(ended.err).not.toContain("    at ");
  });

  test("a mistyped owner or package, with the nearest one", async () => {
    const near = async (to: string) => (await run(["-", "--to", to], { input: GOOD })).err;
    expect(await near(`${owner}x`)).toContain(`Did you mean ${owner}?`);
    expect(await near(`${owner}/@acme/tol`)).toContain("Did you mean @acme/tool?");
    expect(await near(`${owner}/something-else`)).toContain(`The packages of ${owner} are @acme/tool.`);
  });

  test("no token", async () => {
    expect(await run(["-", "--to", "x"], { env: { MAINTAINER_TOKEN: "" } })).toMatchObject({
      status: 1,
      err: saying("--token TOKEN"),
    });
  });

  test("a variable that looks like ours with a slip", async () => {
    expect(await run(["-", "--to", "x"], { env: { MAINTAINER_ULR: program.api } })).toMatchObject({
      status: 1,
      err: saying("MAINTAINER_ULR is unknown. Did you mean MAINTAINER_URL?"),
    });
  });

  test("a zip file, and a gzip file that ends early", async () => {
    const zip = await write("a.zip", Buffer.from("504b0304140000", "hex"));
    expect((await run([zip, "--to", "x/y"])).err).toContain("unzip -p a.zip | maintainer-toolchain import -");
    const cut = await write("cut.log.gz", gzipSync(GOOD.repeat(1000)).subarray(0, 40));
    const { status, err } = await send(cut, "--format", "combined");
    expect({ status, err }).toEqual({
      status: 1,
      err: saying("does not match its Content-Encoding, or it is incomplete"),
    });
  });
});

test("a file that was broken off with Ctrl-C and sent again is counted once", async () => {
  const lines = Array.from({ length: 50_000 }, (_, id) => `{"$time":"2025-03-10","$unique_id":"${id}"}\n`);
  const file = await write("large.ndjson", lines.join(""));
  const to = ["--to", `${owner}/@acme/tool`];
  await using stalled = await stallingProxy(program.api);
  const child = spawn(PROGRAM, ["import", file, ...to, "--url", stalled.url], {
    cwd: folder,
    env: environment(),
  });
  await expect.poll(newestImport).toMatchObject({ status: "importing" });
  child.kill("SIGINT");
  expect(await once(child, "exit")).toEqual([1, null]);
  expect(await run([file, ...to])).toMatchObject({
    status: 0,
    out: saying("50,000 events imported"),
  });
  const { event_imports } = await api.get<{ event_imports: EventImport[] }>(`/v2/imports/${owner}`);
  expect(event_imports).toMatchObject([{ status: "done" }, { status: "aborted" }]);
  expect(await totalOf("2025-03-10")).toBe(50_000);
});

const STALLS_AFTER_BYTES = 32 * 1024;

/** Passes a request on up to some bytes; the rest of it goes nowhere. */
async function stallingProxy(url: string): Promise<AsyncDisposable & { url: string }> {
  const { hostname, port } = new URL(url);
  const server = createServer((socket) => {
    const upstream = connect(Number(port), hostname);
    let bytes = 0;
    socket.on("data", (part) => {
      if (bytes < STALLS_AFTER_BYTES) upstream.write(part);
      bytes += part.length;
    });
    upstream.pipe(socket);
    socket.on("error", () => undefined).on("close", () => upstream.destroy());
    upstream.on("error", () => undefined).on("close", () => socket.destroy());
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => void (await once(server.close(), "close")),
  };
}
