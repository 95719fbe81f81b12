import { readSync, writeSync } from "node:fs";
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import type * as ffiRs from "ffi-rs";
import { lowerPriority } from "../../../process/thread-priority.js";
import { PARENT_PIPE_FD } from "../server-process.js";

/**
 * The process that is the embedded ClickHouse: `node clickhouse-child.js <libchdb.so> <arguments of clickhouse local>`.
 * The engine's call blocks the main thread for good, and it must be the main thread, whose stack the engine can measure.
 * A second thread waits for the end of the pipe that the parent holds (see server-process.ts), and ends the process.
 */
if (isMainThread) await runEngine();
else endWithParent();

async function runEngine(): Promise<void> {
  // Before its threads start: they inherit the priority.
  lowerPriority();
  // Before the second thread starts: loading it makes a diagnostic report, which waits for every thread.
  const ffi = await import("ffi-rs");
  const guard = new Worker(new URL(import.meta.url));
  await new Promise((resolve, reject) => guard.once("message", resolve).once("error", reject));
  const [library = "", ...args] = process.argv.slice(2);
  writeSync(2, `${callEngine(ffi, library, ["clickhouse", ...args])}\n`);
  // The engine has shut down. An ordinary exit would wait for the second thread, which waits for the parent.
  process.kill(process.pid, "SIGKILL");
}

/** Runs until the query that holds the server up is cancelled or fails; returns why. Signatures: chdb.h of chdb-core. */
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
  // Without an error it is a null pointer, which must not be read as a string.
  if (load({ ...error, retType: DataType.I64 }) === 0) return "ClickHouse has shut down";
  return load({ ...error, retType: DataType.String });
}

function endWithParent(): void {
  parentPort?.postMessage("watching");
  try {
    readSync(PARENT_PIPE_FD, Buffer.alloc(1));
  } finally {
    process.kill(process.pid, "SIGKILL");
  }
}
