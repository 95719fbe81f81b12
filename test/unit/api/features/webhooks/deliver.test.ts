import { spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { issueWebhookSecret, signatureHeaders } from "../../../../../api/features/webhooks/sign.js";
import { nextAttempt } from "../../../../../api/features/webhooks/start-deliveries.js";

const id = "01a1fbad-cab4-710c-82a1-b3f3576e59e4";
const body = Buffer.from('{"owner":"acme","data":{"message":"größer\\n$(id) \'\\""}}');
const at = new Date();
const seconds = String(Math.floor(at.getTime() / 1000));
const [secret, old] = [issueWebhookSecret(), issueWebhookSecret()];
const signed = (secrets: string[]) => signatureHeaders({ id, body, secrets, at });

/** The specification's six steps in a shell; the exit status. */
function verifyInShell(
  header: string,
  given: { secret: string; body?: Buffer; now?: string },
): number | null {
  const env = { ...process.env, NOW: given.now ?? seconds };
  const args = ["test/conformance/verify-signature.sh", given.secret, header];
  return spawnSync("sh", args, { env, input: given.body ?? body }).status;
}

test("a secret is whsec_ and the base64 of 32 bytes, each another one", () => {
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(secret).not.toBe(old);
});

test("X-Service-Signature is keyed with the whole text of the secret", () => {
  const digest = createHmac("sha256", secret).update(`${seconds}.${body.toString()}`).digest("hex");
  expect(signed([secret])["X-Service-Signature"]).toBe(`t=${seconds},v1=${digest}`);
});

describe("the six steps in a shell", () => {
  const header = signed([secret])["X-Service-Signature"] ?? "";
  const rotating = signed([secret, old])["X-Service-Signature"] ?? "";

  test("pass what is genuine", () => expect(verifyInShell(header, { secret })).toBe(0));

  test("pass either secret while it is rotated", () => {
    expect(verifyInShell(rotating, { secret })).toBe(0);
    expect(verifyInShell(rotating, { secret: old })).toBe(0);
  });

  test.each([
    ["another secret", header, { secret: old }],
    ["another body", header, { secret, body: Buffer.concat([body, Buffer.from("\n")]) }],
    ["another time", header.replace(/^t=\d+/, "t=1700000000"), { secret, now: "1700000000" }],
    ["a request of six minutes ago", header, { secret, now: String(Number(seconds) + 360) }],
    ["a request of the future", header, { secret, now: String(Number(seconds) - 360) }],
    ["no signature", `t=${seconds}`, { secret }],
    ["no time", header.replace(/^t=\d+,/, ""), { secret }],
    ["nothing", "", { secret }],
  ])("refuse %s", (_, sent, given) => expect(verifyInShell(sent, given)).toBe(1));
});

describe("the package standardwebhooks", () => {
  test("verifies the three headers of Standard Webhooks", () => {
    expect(new Webhook(secret).verify(body, signed([secret]))).toEqual(JSON.parse(body.toString()));
  });

  test.each([secret, old])("verifies either secret while it is rotated", (each) => {
    expect(new Webhook(each).verify(body, signed([secret, old]))).toEqual(JSON.parse(body.toString()));
  });

  test("refuses another secret and another body", () => {
    expect(() => new Webhook(old).verify(body, signed([secret]))).toThrow("No matching signature");
    expect(() => new Webhook(secret).verify(`${body.toString()} `, signed([secret]))).toThrow();
  });
});

test.each([200, 201, 204, 299])("status %s is the end of it: delivered", (status) => {
  expect(nextAttempt({ status }, { attempts: 0, random: 0.5 })).toEqual({ state: "delivered" });
});

test.each([100, 101, 199, 300, 301, 307, 400, 404, 410, 429, 500, 503])(
  "status %s is the end of it: failed",
  (status) => {
    expect(nextAttempt({ status }, { attempts: 0, random: 0.5 })).toEqual({ state: "failed" });
  },
);

test.each([
  [0, 0, 8_000],
  [0, 0.5, 10_000],
  [0, 0.999999, 12_000],
  [1, 0, 48_000],
  [1, 0.5, 60_000],
  [1, 0.999999, 72_000],
  [2, 0, 288_000],
  [2, 0.5, 360_000],
  [2, 0.999999, 432_000],
])(
  "without an answer, %s attempts before and at %s of the spread, it waits %s ms",
  (attempts, random, delayMs) => {
    expect(nextAttempt({ status: null }, { attempts, random })).toEqual({ state: "pending", delayMs });
  },
);

test("after three retries it has failed", () => {
  expect(nextAttempt({ status: null }, { attempts: 3, random: 0 })).toEqual({ state: "failed" });
});
