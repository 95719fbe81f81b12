import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { sendRequest } from "../../../../api/outbound/send-request.js";
import { issueWebhookSecret, signatureHeaders } from "../../../../api/webhooks/sign.js";
import { openGuard } from "../../../support/api/delivery-world.js";
import { closedPort, openReceiver, type Receiver } from "../../../support/api/receivers.js";

const readme = readFileSync("README.md", "utf8");
const section = readme.slice(
  readme.indexOf("## Receiving webhooks"),
  readme.indexOf("## The life of one event"),
);
const blocks = [...section.matchAll(/```(\w+)\n([\s\S]*?)```/g)].map(([, language, text = ""]) => ({
  language,
  text,
}));

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

/** The last block of that language, in a file. */
function snippet(language: string, name: string): string {
  const path = join(folder, name);
  writeFileSync(path, blocks.findLast((each) => each.language === language)?.text ?? "");
  return path;
}

interface Serving {
  command: string;
  file: () => string;
}

/** Starts a receiver that listens by itself; its URL. */
async function serve({ command, file }: Serving): Promise<string> {
  const port = await closedPort();
  const env = { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port) };
  children.push(spawn(command, [file()], { env, stdio: "ignore" }));
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

/** Comes before the real one, and writes down what everybody on the machine can see of it. */
function watchOpenssl(): void {
  const [real = ""] = spawnSync("which", ["openssl"], { encoding: "utf8" }).stdout.split("\n");
  const script = `#!/bin/sh\necho "$@" >> '${argumentsOf}'\nexec '${real}' "$@"\n`;
  writeFileSync(join(folder, "openssl"), script, { mode: 0o755 });
}

/** What a web server does that runs a script for each request. */
async function serveScript(file: string): Promise<string> {
  watchOpenssl();
  const receiver = await openReceiver((request, response) => {
    const body = receiver.received.at(-1)?.body ?? Buffer.alloc(0);
    const env = {
      PATH: `${folder}:${process.env["PATH"]}`,
      WEBHOOK_SECRET: secret,
      CONTENT_LENGTH: String(body.length),
      HTTP_X_SERVICE_SIGNATURE: String(request.headers["x-service-signature"] ?? ""),
    };
    const { stdout } = spawnSync("sh", [file], { env, input: body, encoding: "utf8" });
    response.writeHead(Number(/^Status: (\d+)\r\n\r\n$/.exec(stdout)?.[1] ?? 500)).end();
  });
  receivers.push(receiver);
  return receiver.url;
}

const RECEIVERS = {
  sh: { tool: "openssl", args: ["version"], open: () => serveScript(snippet("sh", "receive.sh")) },
  js: {
    tool: process.execPath,
    args: ["--version"],
    open: () => serve({ command: process.execPath, file: () => snippet("js", "receive.mjs") }),
  },
  python: {
    tool: "python3",
    args: ["--version"],
    open: () => serve({ command: "python3", file: () => snippet("python", "receive.py") }),
  },
};

const isThere = (tool: string, args: string[]) => spawnSync(tool, args).status === 0;

test("the README has a receiver in each language", () => {
  expect(blocks.map(({ language }) => language)).toEqual(["sh", "sh", "js", "python"]);
});

describe.each(Object.entries(RECEIVERS))("the README's receiver in %s", (_, { tool, args, open }) => {
  test.skipIf(!isThere(tool, args))("takes what is genuine and refuses all else", async () => {
    const url = await open();
    const now = new Date();
    const id = "01a1fbad-cab4-710c-82a1-b3f3576e59e4";
    const post = async (headers: Record<string, string>, sent = body) =>
      (await sendRequest({ url, headers, body: sent }, { guard: openGuard() })).status;
    const signed = (secrets: string[], at = now) => signatureHeaders({ id, body, secrets, at });
    const ago = (minutes: number) => new Date(now.getTime() - minutes * 60_000);
    const unsigned = { "X-Service-Signature": `t=${Math.floor(now.getTime() / 1000)}` };
    expect({
      genuine: await post(signed([secret])),
      rotatedTo: await post(signed([secret, old])),
      rotatedFrom: await post(signed([old, secret])),
      threeMinutesOld: await post(signed([secret], ago(3))),
      sixMinutesOld: await post(signed([secret], ago(6))),
      ofTheFuture: await post(signed([secret], ago(-6))),
      another: await post(signed([old])),
      changed: await post(signed([secret]), Buffer.from(body.toString().replace("1", "2"))),
      unsigned: await post(unsigned),
      empty: await post({ "X-Service-Signature": "" }),
      strange: await post({ "X-Service-Signature": "t=,v1=,v1=zz,t=x,=," }),
      superscript: await post({ "X-Service-Signature": "t=\u00b2,v1=00" }),
      none: await post({}),
    }).toEqual({
      genuine: 204,
      rotatedTo: 204,
      rotatedFrom: 204,
      threeMinutesOld: 204,
      sixMinutesOld: 401,
      ofTheFuture: 401,
      another: 401,
      changed: 401,
      unsigned: 401,
      empty: 401,
      strange: 401,
      superscript: 401,
      none: 401,
    });
  });
});

test.runIf(isThere("openssl", ["version"]))(
  "the README's receiver in sh shows nobody its secret",
  async () => {
    const url = await RECEIVERS.sh.open();
    const headers = signatureHeaders({ id: "1", body, secrets: [secret], at: new Date() });
    expect((await sendRequest({ url, headers, body }, { guard: openGuard() })).status).toBe(204);
    const seen = readFileSync(argumentsOf, "utf8");
    expect(seen).toContain("-sha256");
    expect(seen).not.toContain("whsec_");
  },
);
