import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ApiClient, connectApi } from "../../deploy/demo/api-client.js";
import { generateBody } from "../../deploy/demo/generate-events.js";
import type { EventImport } from "../../schemas/import-store.js";
import { expectedOutcome, outcomeOf } from "../support/import-outcome.js";
import { makeOrganization, makePackage } from "../support/make-artifacts.js";
import { openRecount, type RecountBodies } from "../support/open-recount.js";
import { openUpload } from "../support/open-upload.js";
import { readUntil } from "../support/read-until.js";
import type { KnownArtifact } from "../support/recount-line.js";
import { canLoseRights, startFailing, WITHOUT_RIGHTS } from "../support/start-failing.js";
import { startToolchain, type Toolchain } from "../support/start-toolchain.js";

const RANGE = { startDate: "2025-03-01", endDate: "2025-05-01" };
const ORGANIZATION = "drained";

let folder: string;
let toolchain: Toolchain;
let api: ApiClient;
let recountBodies: RecountBodies;
let artifact: KnownArtifact;
let path: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "stop-and-start-"));
  [toolchain, recountBodies] = await Promise.all([startToolchain(), openRecount()]);
  api = await toolchain.newAccount("ada");
  await makeOrganization(api, ORGANIZATION);
  await toolchain.admin("grant-export", ORGANIZATION);
});

afterAll(async () => {
  await toolchain?.close();
  await rm(folder, { recursive: true, force: true });
});

async function openPackage(name: string): Promise<void> {
  artifact = await makePackage(api, { organization: ORGANIZATION, name, libraryType: "other" });
  path = `/v2/packages/${ORGANIZATION}/${artifact.id}/import`;
}

function bodyOf(count: number): Buffer {
  const packages = [{ id: artifact.id, libraryType: "other" as const }];
  const mix = { seed: 41, clients: 2_000, overrideShare: 0.2, from: "2025-03-10", days: 30, packages };
  return Buffer.concat([...generateBody({ ...mix, count })]);
}

async function restart(): Promise<void> {
  await toolchain.restart();
  api = connectApi(toolchain.api, api.token);
}

async function expectDone(started: EventImport, bytes: Buffer): Promise<void> {
  const record = await api.pollToDone(started);
  const { imports, aggregates } = recountBodies([{ bytes, target: artifact.id }], [artifact]);
  expect([outcomeOf(record)]).toEqual(imports.map(expectedOutcome));
  await readUntil(api, ORGANIZATION, { packageId: artifact.id, range: RANGE, expected: aggregates });
}

describe("a program that is told to stop", () => {
  test.each(["SIGTERM", "SIGINT"] as const)(
    "in the middle of an import (%s) ends with status 0, and the import is done after the next start",
    async (signal) => {
      await openPackage(signal);
      const body = bodyOf(40_000);
      const started = await api.importBody(path, body);
      expect(started.status).toBe("importing");
      // The program gives itself 20 seconds and then ends with status 1.
      expect(await toolchain.kill(signal)).toBe(0);
      await restart();
      await expectDone(started, body);
    },
  );

  test("in the middle of an upload takes nothing new and finishes what its sender finishes", async () => {
    await openPackage("uploading");
    const body = bodyOf(10_000);
    const upload = openUpload(api, path);
    await upload.send(body.subarray(0, body.length - 1));
    const stopped = toolchain.kill("SIGTERM");
    await expect.poll(refusesConnections, { timeout: 10_000 }).toBe(true);
    await upload.send(body.subarray(body.length - 1));
    upload.end();
    const { status, body: started } = await upload.answer;
    expect(status).toBe(200);
    expect(await stopped).toBe(0);
    await restart();
    await expectDone(started as EventImport, body);
  });

  async function refusesConnections(): Promise<boolean> {
    try {
      await (await fetch(`${toolchain.api}/healthz`)).text();
      return false;
    } catch {
      return true;
    }
  }
});

describe("a program that cannot start says why in one line, and ends with status 1:", () => {
  test("a second one on the same directory", async () => {
    const ended = await startFailing({ DATA_DIR: toolchain.dataDir });
    const sentence = `DATA_DIR ${toolchain.dataDir} is in use by process ${toolchain.pid}: stop it first`;
    expect(ended).toEqual({ status: 1, said: [expect.stringContaining(sentence)] });
    expect((await fetch(`${toolchain.api}/readyz`)).status).toBe(200);
  });

  test("its port is taken", async () => {
    const holder = await holdPort();
    const { port } = holder.address() as AddressInfo;
    const ended = await startFailing({ DATA_DIR: join(folder, "port"), PORT: String(port) });
    await new Promise((closed) => holder.close(closed));
    const sentence = `port ${port} on 127.0.0.1 is taken (PORT): stop the program that holds it`;
    expect(ended).toEqual({ status: 1, said: [expect.stringContaining(sentence)] });
  });

  function holdPort(): Promise<Server> {
    return new Promise((listening) => {
      const server = createServer().listen(0, "127.0.0.1", () => listening(server));
    });
  }

  test.each([
    ["PORT", "http", "PORT must be a port from 0 to 65535"],
    ["ROLES", "api,cook", "ROLES must be one or more of"],
    ["LOG_LEVEL", "loud", "LOG_LEVEL must be one of"],
    ["DATABASE_URL", "postgres://127.0.0.1/x", "SECRET_KEY must be set"],
    ["CITY_MMDB", "/nowhere/city.mmdb", "The city database /nowhere/city.mmdb cannot be read"],
  ])("%s is %s", async (name, value, sentence) => {
    const ended = await startFailing({ DATA_DIR: join(folder, name), [name]: value });
    expect(ended).toEqual({ status: 1, said: [expect.stringContaining(sentence)] });
  });

  test("every wrong variable at once", async () => {
    const wrong = {
      DATA_DIR: join(folder, "wrong"),
      PORT: "-1",
      ENRICH_WORKERS: "many",
      FUNNEL_SCHEDULE: "daily",
    };
    const { status, said } = await startFailing(wrong);
    expect(status).toBe(1);
    expect(said.map((line) => line.split(" ")[0])).toEqual(["PORT", "ENRICH_WORKERS", "FUNNEL_SCHEDULE"]);
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
