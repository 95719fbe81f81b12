import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { sendRequest } from "../../../../api/base/outbound/send-request.js";
import { issueWebhookSecret, signatureHeaders } from "../../../../api/features/webhooks/sign.js";
import { openGuard } from "../../../support/api/delivery-world.js";
import { type Receiver, closedPort, openReceiver } from "../../../support/api/receivers.js";

const FILES = "deploy/docs/receivers";
const folder = mkdtempSync(join(tmpdir(), "toolchain-receivers-"));
const children: ChildProcess[] = [];
const receivers: Receiver[] = [];

afterAll(async () => {
  for (const child of children) child.kill("SIGKILL");
  for (const receiver of receivers) await receiver[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const [secret, old] = [issueWebhookSecret(), issueWebhookSecret()];
const body = Buffer.from('{"id":"1","data":{"message":"größer\\n%s $(id) \'\\""}}');

/** Starts a receiver that listens by itself; its URL. */
async function serve(command: string, file: string): Promise<string> {
  const port = await closedPort();
  const env = { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port) };
  children.push(spawn(command, [`${FILES}/${file}`], { env, stdio: "ignore" }));
  const url = `http://127.0.0.1:${port}/`;
  await expect
    .poll(() =>
      fetch(url, { method: "POST", body: "?" }).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(401);
  return url;
}

const argumentsOf = join(folder, "arguments");

/** Comes before the real one, and writes down its arguments, which everybody on the machine can see. */
function watchOpenssl(): void {
  const [real = ""] = spawnSync("which", ["openssl"], { encoding: "utf8" }).stdout.split("\n");
  const script = `#!/bin/sh\necho "$@" >> '${argumentsOf}'\nexec '${real}' "$@"\n`;
  writeFileSync(join(folder, "openssl"), script, { mode: 0o755 });
}

/** Runs the script for each request, as a web server with CGI does. */
async function serveScript(): Promise<string> {
  watchOpenssl();
  const receiver = await openReceiver((request, response) => {
    const body = receiver.received.at(-1)?.body ?? Buffer.alloc(0);
    const env = {
      PATH: `${folder}:${process.env["PATH"]}`,
      WEBHOOK_SECRET: secret,
      CONTENT_LENGTH: String(body.length),
      HTTP_X_SERVICE_SIGNATURE: String(request.headers["x-service-signature"] ?? ""),
    };
    const { stdout } = spawnSync("sh", [`${FILES}/receive.sh`], { env, input: body, encoding: "utf8" });
    response.writeHead(Number(/^Status: (\d+)\r\n\r\n$/.exec(stdout)?.[1] ?? 500)).end();
  });
  receivers.push(receiver);
  return receiver.url;
}

const RECEIVERS = {
  "receive.sh": { tool: "openssl", args: ["version"], open: serveScript },
  "receive.mjs": {
    tool: process.execPath,
    args: ["--version"],
    open: () => serve(process.execPath, "receive.mjs"),
  },
  "receive.py": { tool: "python3", args: ["--version"], open: () => serve("python3", "receive.py") },
};

const isThere = (tool: string, args: string[]) => spawnSync(tool, args).status === 0;

test("every receiver of the page is run here", () => {
  expect(readdirSync(FILES).sort()).toEqual(Object.keys(RECEIVERS).sort());
});

describe.each(Object.entries(RECEIVERS))("the receiver %s", (_, { tool, args, open }) => {
  test.skipIf(!isThere(tool, args))("takes what is genuine and refuses all else", async () => {
    const url = await open();
    const now = new Date();
    const id = "01a1fbad-cab4-710c-82a1-b3f3576e59e4";
    const post = async (headers: Record<string, string>, sent = body) =>
      (await sendRequest({ url, headers, body: sent }, { guard: openGuard() })).status;
    const signed = (secrets: string[], at = now) => signatureHeaders({ id, body, secrets, at });
    const ago = (minutes: number) => new Date(now.getTime() - minutes * 60_000);
    const header = (value: string) => post({ "X-Service-Signature": value });
    const taken = {
      genuine: await post(signed([secret])),
      rotatedTo: await post(signed([secret, old])),
      rotatedFrom: await post(signed([old, secret])),
      threeMinutesOld: await post(signed([secret], ago(3))),
    };
    const refused = {
      sixMinutesOld: await post(signed([secret], ago(6))),
      ofTheFuture: await post(signed([secret], ago(-6))),
      another: await post(signed([old])),
      changed: await post(signed([secret]), Buffer.from(body.toString().replace("1", "2"))),
      unsigned: await header(`t=${Math.floor(now.getTime() / 1000)}`),
      empty: await header(""),
      strange: await header("t=,v1=,v1=zz,t=x,=,"),
      superscript: await header("t=\u00b2,v1=00"),
      none: await post({}),
    };
    const all = (answers: object, status: number) =>
      Object.fromEntries(Object.keys(answers).map((name) => [name, status]));
    expect([taken, refused]).toEqual([all(taken, 204), all(refused, 401)]);
  });
});

test.runIf(isThere("openssl", ["version"]))("the receiver receive.sh shows nobody its secret", async () => {
  const url = await serveScript();
  const headers = signatureHeaders({ id: "1", body, secrets: [secret], at: new Date() });
  expect((await sendRequest({ url, headers, body }, { guard: openGuard() })).status).toBe(204);
  const seen = readFileSync(argumentsOf, "utf8");
  expect(seen).toContain("-sha256");
  expect(seen).not.toContain("whsec_");
});
