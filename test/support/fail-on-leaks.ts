import { globalAgent } from "node:http";
import { afterAll, expect, vi } from "vitest";
import { stopCheckingAnswers } from "./api/check-answer.js";

/** Handles by which a file that forgot to close something shows: its programs, servers and connections. */
const KINDS = ["ProcessWrap", "TCPServerWrap", "TCPSocketWrap"];
/** A closed handle may take a moment to be gone. */
const GONE_MS_MAX = 60_000;
const DISPATCHER = Symbol.for("undici.globalDispatcher.1");

const countHandles = () =>
  process
    .getActiveResourcesInfo()
    .filter((kind) => KINDS.includes(kind))
    .sort();

const before = countHandles();

interface Dispatcher {
  constructor: new () => Dispatcher;
  destroy(): Promise<void>;
}

/** Closes the connections that `fetch` keeps. The next file of this process gets new ones. */
async function replaceDispatcher(): Promise<void> {
  const global = globalThis as { [DISPATCHER]?: Dispatcher };
  const dispatcher = global[DISPATCHER];
  if (dispatcher === undefined) return;
  global[DISPATCHER] = new dispatcher.constructor();
  await dispatcher.destroy();
}

// Registered before the hooks of the file, and so run after them.
afterAll(async () => {
  // Connections that are kept for the next request are nobody's to close.
  globalAgent.destroy();
  await replaceDispatcher();
  stopCheckingAnswers();
  const noneLeft = () => expect(countHandles(), "handles that this file leaves open").toEqual(before);
  await vi.waitFor(noneLeft, { timeout: GONE_MS_MAX, interval: 20 });
});
