import { Counter, type Registry } from "prom-client";
import { SOURCE_OUTCOMES, type SourceOutcome } from "../../api/features/sources/start-sources.js";
import { SOURCE_KINDS, type SourceKind } from "../../schemas/contracts/source.js";

export function createSourceMetrics(registry: Registry) {
  const runs = new Counter({
    name: "source_runs_total",
    help: "Fetches of registry counts by kind and outcome: done, unknown-name, or failed (a retry follows)",
    labelNames: ["kind", "outcome"],
    registers: [registry],
  });
  for (const kind of SOURCE_KINDS) for (const outcome of SOURCE_OUTCOMES) runs.inc({ kind, outcome }, 0);
  return { onRun: (kind: SourceKind, outcome: SourceOutcome) => runs.inc({ kind, outcome }) };
}
