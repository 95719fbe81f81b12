import { expect, test, vi } from "vitest";
import { openExportPermits, type ExportPermit } from "../../../../../api/base/http/export-permits.js";

const NEVER = new AbortController().signal;
const LIMITS = { inAll: 3, perAccount: 2, waitMsMax: 20, stalledMsMax: 100 };

const socketOf = () => ({ destroy: vi.fn(), setTimeout: vi.fn() });
const caller = (accountId: string, over = {}) => ({ accountId, socket: socketOf(), signal: NEVER, ...over });
const REFUSAL = { code: "unavailable", retryAfterSeconds: 1 };

test("an account has its share of the exports, and others have the rest", async () => {
  const { take } = openExportPermits(LIMITS);
  const first = await take(caller("ada"));
  await take(caller("ada"));
  await expect(take(caller("ada"))).rejects.toMatchObject(REFUSAL);
  await take(caller("bob"));
  await expect(take(caller("cyd"))).rejects.toMatchObject(REFUSAL);
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  await take(caller("cyd"));
  await expect(take(caller("dan"))).rejects.toMatchObject(REFUSAL);
});

test("a connection has one export at a time, however many it asks for", async () => {
  const { take } = openExportPermits(LIMITS);
  const socket = socketOf();
  const first = await take(caller("ada", { socket }));
  await expect(take(caller("ada", { socket }))).rejects.toMatchObject(REFUSAL);
  first[Symbol.dispose]();
  await take(caller("ada", { socket }));
});

test("a caller who leaves while it waits is not told to come again", async () => {
  const { take } = openExportPermits({ ...LIMITS, waitMsMax: 5_000 });
  const socket = socketOf();
  await take(caller("ada", { socket }));
  const left = new AbortController();
  const waiting = take(caller("ada", { socket, signal: left.signal }));
  left.abort(new Error("left"));
  await expect(waiting).rejects.toThrow("left");
});

test("a caller who takes too long for a part loses its place to others that wait, and only then", async () => {
  const clock = { now: 0 };
  const { take } = openExportPermits({ ...LIMITS, now: () => clock.now });
  const permits: ExportPermit[] = [];
  const open = async (accountId: string) => {
    const socket = { ...socketOf(), destroy: vi.fn(() => permits[0]?.[Symbol.dispose]()) };
    const onBrokenOff = vi.fn();
    permits.push(await take({ accountId, socket, signal: NEVER, onBrokenOff }));
    return { socket, onBrokenOff };
  };
  const slow = await open("ada");
  const quick = [await open("ada"), await open("bob")];
  for (const permit of permits) permit.onHanded();
  permits[1]?.onTaken();
  permits[2]?.onTaken();
  clock.now = 99;
  await expect(take(caller("cyd"))).rejects.toMatchObject(REFUSAL);
  expect(slow.socket.destroy).not.toHaveBeenCalled();
  clock.now = 100;
  await take(caller("cyd"));
  expect(slow.onBrokenOff).toHaveBeenCalledOnce();
  for (const { socket } of quick) expect(socket.destroy).not.toHaveBeenCalled();
});

test("a connection may be idle for minutes with a part and with the last bytes, and longer while there is none to read", async () => {
  const { take } = openExportPermits({ ...LIMITS, idleMsMax: 300 });
  const socket = socketOf();
  const permit = await take(caller("ada", { socket }));
  expect(socket.setTimeout).not.toHaveBeenCalled();
  permit.onHanded();
  permit.onTaken();
  permit[Symbol.dispose]();
  permit[Symbol.dispose]();
  expect(socket.setTimeout.mock.calls).toEqual([[300], [0], [300]]);
});

test("a permit is free for others although its connection refuses to be told", async () => {
  const { take, used } = openExportPermits({ ...LIMITS, inAll: 1 });
  const refuse = vi.fn(() => {
    throw new TypeError("socket.setTimeout is not a function");
  });
  const socket = { ...socketOf(), setTimeout: refuse };
  const permit = await take(caller("ada", { socket }));
  expect(used()).toBe(1);
  expect(() => permit[Symbol.dispose]()).toThrow(TypeError);
  expect(used()).toBe(0);
  await take(caller("ada", { socket }));
});
