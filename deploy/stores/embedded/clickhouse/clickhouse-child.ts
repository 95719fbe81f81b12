import { readSync, writeSync } from "node:fs";
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import type * as ffiRs from "ffi-rs";
import { lowerPriority } from "../../../process/thread-priority.js";
import { PARENT_PIPE_FD } from "../server-process.js";

/**
 * The process of the embedded ClickHouse: `node clickhouse-child.js <libchdb.so> <arguments of clickhouse local>`. The
 * call of the engine blocks the main thread until the end. It must be the main thread, because the engine measures its
 * stack. A second thread waits for the end of the parent pipe (see server-process.ts), and then ends the process.
 */
if (isMainThread) await runEngine();
else endWithParent();

async function runEngine(): Promise<void> {
  // Before the engine starts its threads, which inherit the priority.
  lowerPriority();
  // Before the second thread starts: loading ffi-rs makes a diagnostic report, which waits for every thread.
  const ffi = await import("ffi-rs");
  await leaveGroup();
  const parentListener = new Worker(new URL(import.meta.url));
  await new Promise((resolve, reject) => parentListener.once("message", resolve).once("error", reject));
  const [library = "", ...args] = process.argv.slice(2);
  writeSync(2, `${callEngine(ffi, library, ["clickhouse", ...args])}\n`);
  // An ordinary exit would wait for the second thread, which waits for the parent.
  process.kill(process.pid, "SIGKILL");
}

/** Ctrl-C in the terminal signals a process group. The engine ends by its parent, not by Ctrl-C. Source: setpgid(2). */
async function leaveGroup(): Promise<void> {
  const { callLibc } = await import("../../../process/libc.js");
  const { value } = callLibc("setpgid", ["int", 0], ["int", 0]);
  if (value !== 0) throw new Error("ClickHouse cannot leave the process group of its parent");
}

/** Runs until the holding query is cancelled or fails. Returns the reason. Signatures: chdb.h of chdb-core. */
function callEngine({ DataType, load, open }: typeof ffiRs, library: string, argv: string[]): string {
  open({ library: "chdb", path: library });
  const result = load({
    library: "chdb",
    funcName: "chdb_query_cmdline",
    retType: DataType.External,
    paramsType: [DataType.I32, DataType.StringArray],
    paramsValue: [argv.length, argv],
  });
  const error = {
    library: "chdb",
    funcName: "chdb_result_error",
    paramsType: [DataType.External],
    paramsValue: [result],
  };
  // A null pointer means no error, and must not be read as a string.
  if (load({ ...error, retType: DataType.I64 }) === 0) return "ClickHouse has shut down";
  return load({ ...error, retType: DataType.String });
}

function endWithParent(): void {
  parentPort?.postMessage("ready");
  try {
    readSync(PARENT_PIPE_FD, Buffer.alloc(1));
  } finally {
    process.kill(process.pid, "SIGKILL");
  }
}
