import { connectApi } from "../../../deploy/demo/api-client.js";
import { generateLines } from "../../../deploy/demo/generate-events.js";
import type { BenchResult } from "../common/benchmark.js";
import { createBenchAccount } from "../common/create-bench-account.js";
import { mixOf } from "../common/event-files.js";
import { importPath } from "../common/import-file.js";
import { openKeepAliveConnections } from "../common/keep-alive-connections.js";
import { percentiles } from "../common/percentiles.js";
import { factTable, report } from "../common/report.js";
import { cpuSecondsOf, sampleUsage } from "../usage/sample-usage.js";
import { type MeasuredProgram, programBenchmark } from "../common/measure-program.js";
import { makePackages } from "../common/make-packages.js";
import { SENDERS, type SmallRun, sendSmallImports } from "./send-small-imports.js";

/** Imports of 100 lines into one package, each sender's next after its last is done. */
export const smallBenchmark = programBenchmark("small", {
  summary: `--imports imports of 100 lines from ${SENDERS} senders of one owner: imports/s and time to \`done\``,
  measure: runImports,
  report: (run) => smallReport(run, { linesEach: LINES_EACH }),
});

export const LINES_EACH = 100;
/** Enough for one body where some are left out. */
const LINES_GENERATED = LINES_EACH + 5;
const WARM_UP_IMPORTS = 60;

async function runImports({ program, imports, seed, onProgress }: MeasuredProgram): Promise<SmallRun> {
  const { api: url } = await program.ready();
  const api = connectApi(url, await createBenchAccount(program.dataDir));
  const packageIds = await makePackages(api, { name: "small", count: 1 });
  const all = bodiesOf({ imports: WARM_UP_IMPORTS + imports, seed, packageIds });
  using connections = openKeepAliveConnections(url, SENDERS + 1);
  const setup = { connections, token: api.token, path: importPath(packageIds) };
  onProgress(`warming up with ${WARM_UP_IMPORTS} imports`);
  await sendSmallImports(setup, all.slice(0, WARM_UP_IMPORTS));
  onProgress(`${imports} imports of ${LINES_EACH} lines from ${SENDERS} senders`);
  using sampler = sampleUsage(program.pid);
  const sent = await sendSmallImports(setup, all.slice(WARM_UP_IMPORTS));
  return { ...sent, usage: sampler.finish() };
}

/**
 * The imports continue one another, so that they also override events of earlier ones. Without lines that are arrays: a
 * body that begins with one is refused as a whole.
 */
function bodiesOf({
  imports,
  seed,
  packageIds,
}: {
  imports: number;
  seed: number;
  packageIds: readonly string[];
}): Buffer[] {
  const mix = mixOf({ events: imports * LINES_GENERATED, seed, packageIds });
  const lines = [...generateLines(mix)].filter((line) => line.trim() !== "" && !line.startsWith("["));
  return Array.from({ length: imports }, (_, index) =>
    Buffer.from(lines.slice(index * LINES_EACH, (index + 1) * LINES_EACH).join("\n")),
  );
}

export function smallReport(run: SmallRun, { linesEach }: { linesEach: number }): BenchResult {
  const imports = run.msToDone.length;
  const facts = {
    imports_per_second: imports / run.seconds,
    ms_to_answer: percentiles(run.msToAnswer),
    ms_to_done: percentiles(run.msToDone),
    cpu_ms_per_import: cpuSecondsOf(run.usage, 1000 / imports),
  };
  return report({
    title: `small: ${imports} imports of ${linesEach} lines, ${SENDERS} senders of one owner,`,
    tables: [factTable("", [["this program", facts]])],
    json: { imports, lines_each: linesEach, senders: SENDERS, ...facts },
  });
}
