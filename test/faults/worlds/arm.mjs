/**
 * Preloaded into the program under test (`node --import`), on each of its threads: listens at the fault points and
 * does there what the plan says, once each. FAULT_CHANNELS names the points' channels, FAULT_PLAN the file of the
 * plan, which may change while the program runs; the process that carries out a fault leaves `<plan>.<id>` beside it, with its
 * process id. The rest of a fault of a broker or a group goes on outside: see kafka-world.ts.
 */
import { execFileSync, spawn } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from "node:fs";

const { FAULT_PLAN = "", FAULT_CHANNELS = "", FAULT_POWER, DATA_DIR = "" } = process.env;
/** The folder of the stores, when they are not the program's own. */
const STORES_DIR = process.env.FAULT_STORES_DIR ?? DATA_DIR;

/** Loaded before the first fault, which must not wait. */
const ffi = FAULT_POWER === undefined ? undefined : await import("ffi-rs");

/** A fault of the program that lines with such a header run into. */
if (FAULT_POWER !== undefined) poison();

let plan = { changedAt: 0, faults: [] };
let passed = new Map();

for (const channel of FAULT_CHANNELS.split(",")) subscribe(channel, () => pass(channel));

function poison() {
  const toLowerCase = Reflect.get(String.prototype, "toLowerCase");
  String.prototype.toLowerCase = function () {
    const text = toLowerCase.call(this);
    if (text === "x-poison") throw new Error("a fault of the program");
    return text;
  };
}

function pass(channel) {
  readPlan();
  passed.set(channel, (passed.get(channel) ?? 0) + 1);
  for (const fault of plan.faults) {
    if (fault.channel === channel && passes(fault) >= fault.hit && claim(fault.id)) carryOut(fault);
  }
}

function passes({ channel, counted = channel }) {
  return passed.get(counted) ?? 0;
}

function readPlan() {
  const { mtimeMs } = statSync(FAULT_PLAN);
  if (mtimeMs === plan.changedAt) return;
  plan = { changedAt: mtimeMs, faults: JSON.parse(readFileSync(FAULT_PLAN, "utf8")) };
  passed = new Map();
}

/** One of all threads and processes gets it. */
function claim(id) {
  try {
    writeFileSync(`${FAULT_PLAN}.${id}`, String(process.pid), { flag: "wx" });
    return true;
  } catch {
    return false;
  }
}

function carryOut({ action, delayMs, brokerPid }) {
  if (action === "kill program") later(delayMs, () => process.kill(process.pid, "SIGKILL"));
  if (action === "cut power") later(delayMs, cutPower);
  if (action === "kill clickhouse") later(delayMs, () => killStore("clickhouse-child"));
  if (action === "kill postgres") later(delayMs, () => killStore("postgres"));
  if (action === "fill disk") fillDisk(delayMs);
  if (action === "kill broker") process.kill(brokerPid, "SIGKILL");
  if (action === "freeze broker") process.kill(brokerPid, "SIGSTOP");
  if (action === "freeze program") freeze(delayMs);
  if (action === "leave group" || action === "refuse group") holdThread();
}

function later(delayMs, work) {
  if (delayMs === 0) work();
  else setTimeout(work, delayMs);
}

const STORES = ["clickhouse-child", "postgres"];
/** EXT4_IOC_SHUTDOWN and EXT4_GOING_FLAGS_NOLOGFLUSH of linux/ext4.h. */
const SHUTDOWN = 0x8004587d;
const WITHOUT_LOG_FLUSH = Buffer.from([2, 0, 0, 0]);

/**
 * From now on the disk at FAULT_POWER takes nothing. It keeps what was written down, as after a power cut: the pages that
 * the kernel still holds are lost. Everything that runs on it ends.
 */
function cutPower() {
  // Held before, or they would go on for a while and say that their disk is broken. Servers first: they start no more.
  const hold = (pid) => process.kill(pid, "SIGSTOP");
  STORES.flatMap(serversOf).forEach(hold);
  const held = STORES.flatMap(processesOf).map(Number);
  held.forEach(hold);
  const { DataType, load, open } = ffi;
  open({ library: "libc", path: "" });
  const disk = openSync(FAULT_POWER, "r");
  load({
    library: "libc",
    funcName: "ioctl",
    retType: DataType.I32,
    paramsType: [DataType.I32, DataType.I64, DataType.U8Array],
    paramsValue: [disk, SHUTDOWN, WITHOUT_LOG_FLUSH],
  });
  closeSync(disk);
  for (const pid of held) process.kill(pid, "SIGKILL");
  if (DATA_DIR.startsWith(FAULT_POWER)) process.kill(process.pid, "SIGKILL");
}

function killStore(name) {
  for (const pid of serversOf(name)) process.kill(pid, "SIGKILL");
}

/** The server that no other server of its kind started. */
function serversOf(name) {
  const servers = processesOf(name);
  return servers.filter((pid) => !servers.includes(parentOf(pid))).map(Number);
}

function processesOf(name) {
  return readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && isStore(pid, name));
}

function isStore(pid, name) {
  try {
    const inDataDir = readlinkSync(`/proc/${pid}/cwd`).startsWith(`${STORES_DIR}/`);
    return inDataDir && readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0", 3).join(" ").includes(name);
  } catch {
    return false;
  }
}

function parentOf(pid) {
  return /^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
}

/**
 * A limit on the size of files fails the writes of the log in the same place as a full disk, without needing one. A
 * process of its own takes it back: this thread may end meanwhile.
 */
function fillDisk(durationMs) {
  const limit = (size) => `prlimit --pid ${process.pid} --fsize=${size}:unlimited`;
  execFileSync("sh", ["-c", limit(4096)]);
  atLast(durationMs, limit("unlimited"));
}

/** Every thread stands still until another process says otherwise. */
function freeze(durationMs) {
  atLast(durationMs, `kill -CONT ${process.pid}`);
  process.kill(process.pid, "SIGSTOP");
}

const HOLD_MS = 700;

/** Keeps the batch in hand until the group has heard what happens to it meanwhile; no longer than a session lasts. */
function holdThread() {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, HOLD_MS);
}

function atLast(durationMs, command) {
  spawn("sh", ["-c", `sleep ${durationMs / 1000}; ${command}`], { detached: true, stdio: "ignore" });
}
