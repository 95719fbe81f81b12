import { pino } from "pino";
import { afterEach, expect, test } from "vitest";
import type { LinesToCheck } from "../../../../api/features/imports/dry-run.js";
import { type LineChecks, openLineChecks } from "../../../../deploy/roles/start-line-checks.js";

/** Answers each check with the number of its bytes once it is told to, and ends at a "!". */
const MODULE = `
  import { parentPort, threadId } from "node:worker_threads";
  parentPort.on("message", (message) => {
    if ("stop" in message) process.exit();
    const { id, lines } = message;
    if (lines.bytes[0] === 33) throw new Error("it broke");
    if (lines.bytes[0] === 63) {
      const failure = { code: "unavailable", message: "The database is away.", retryAfterSeconds: 7 };
      return parentPort.postMessage({ id, failure });
    }
    const tally = { eventsTotal: lines.bytes.buffer.byteLength, eventsImported: threadId, eventsFailed: 0 };
    parentPort.postMessage({ id, tally: { ...tally, errors: [], warnings: [] } });
  });
  parentPort.postMessage({ ready: true });`;

const opened: LineChecks[] = [];
afterEach(async () => {
  for (const checks of opened.splice(0)) await checks[Symbol.asyncDispose]();
});

/** Takes its time for each, and answers with the most that it was asked for at once. */
const SLOW = `
  import { parentPort } from "node:worker_threads";
  let [held, most] = [0, 0];
  parentPort.on("message", (message) => {
    if ("stop" in message) process.exit();
    most = Math.max(most, ++held);
    setTimeout(() => {
      held--;
      const tally = { eventsTotal: 1, eventsImported: most, eventsFailed: 0, errors: [], warnings: [] };
      parentPort.postMessage({ id: message.id, tally });
    }, 10);
  });
  parentPort.postMessage({ ready: true });`;

function open(module = MODULE): LineChecks {
  const checks = openLineChecks({
    postgresUrl: "",
    eventRetention: {},
    logLevel: "silent",
    log: pino({ level: "silent" }),
    module: new URL(`data:text/javascript,${encodeURIComponent(module)}`),
  });
  opened.push(checks);
  return checks;
}

const NEVER = new AbortController().signal;

function linesOf(text: string, ownerId = "acme", accountId = `admin of ${ownerId}`): LinesToCheck {
  const target = {
    ownerId,
    accountId,
    artifactKind: "any",
    artifactId: "",
    format: "ndjson",
    path: "",
  } as const;
  return { bytes: Buffer.from(text), firstLine: 1, header: "", target, receivedAt: 0 };
}

test("checks the lines of dry runs on another thread, with no more than their bytes", async () => {
  const checks = open();
  const tallies = await Promise.all(["a", "bb", "ccc"].map((text) => checks.check(linesOf(text), NEVER)));
  expect(tallies.map(({ eventsTotal }) => eventsTotal)).toEqual([1, 2, 3]);
  expect(tallies[0]?.eventsImported).toBeGreaterThan(0);
});

test("passes on why lines could not be checked", async () => {
  await expect(open().check(linesOf("?"), NEVER)).rejects.toMatchObject({
    code: "unavailable",
    message: "The database is away.",
    retryAfterSeconds: 7,
  });
});

test("answers with 503 where the thread ends, and starts it again", async () => {
  const checks = open();
  const ended = await Promise.allSettled([
    checks.check(linesOf("!"), NEVER),
    checks.check(linesOf("!", "other"), NEVER),
  ]);
  expect(ended).toMatchObject([
    { reason: { code: "unavailable", retryAfterSeconds: 5 } },
    { reason: { code: "unavailable" } },
  ]);
  await expect
    .poll(() => checks.check(linesOf("a"), NEVER).catch(() => undefined), { timeout: 5_000 })
    .toMatchObject({ eventsTotal: 1 });
});

test("gives the thread no more than two chunks at once, of one account one", async () => {
  const check = (checks: LineChecks, owner: string, account: string) =>
    checks.check(linesOf("a", owner, account), NEVER).then(({ eventsImported }) => eventsImported);
  const [several, one] = [open(SLOW), open(SLOW)];
  const most = Promise.all(Array.from({ length: 6 }, (_, n) => check(several, `owner ${n}`, `account ${n}`)));
  expect(Math.max(...(await most))).toBe(2);
  const ofOne = Promise.all(Array.from({ length: 6 }, (_, n) => check(one, `owner ${n}`, "ada")));
  expect(Math.max(...(await ofOne))).toBe(1);
});

test("owners take turns: the next lines of one wait for its own, and not for more of another", async () => {
  const checks = open(SLOW);
  const order: string[] = [];
  const check = (owner: string, text: string) =>
    checks.check(linesOf(text, owner), NEVER).then(() => order.push(owner));
  await Promise.all([...Array.from({ length: 4 }, () => check("one", "a")), check("two", "a")]);
  expect(order.indexOf("two")).toBeLessThan(2);
});

test("so do accounts, whatever the number of their organizations", async () => {
  const checks = open(SLOW);
  const order: string[] = [];
  const check = (owner: string, account: string) =>
    checks.check(linesOf("a", owner, account), NEVER).then(() => order.push(account));
  const greedy = Array.from({ length: 4 }, (_, index) => check(`organization ${index}`, "greedy"));
  await Promise.all([...greedy, check("other", "modest")]);
  expect(order.indexOf("modest")).toBeLessThan(2);
});
