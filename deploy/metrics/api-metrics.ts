import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { EXPORT_ENDINGS, type ApiListener } from "../../api/base/http/api-listener.js";
import type { ExportPermits } from "../../api/base/http/export-permits.js";

export interface ApiSources extends Pick<ApiListener, "onImportEnded"> {
  /** The number of import bodies that this process is receiving. */
  activeUploads: () => number;
  exportPermits: Pick<ExportPermits, "used">;
}

/** Metrics of the role `api`. Labels have few values: route patterns, never paths. */
export function createApiMetrics(
  registry: Registry,
  { onImportEnded, activeUploads, exportPermits }: ApiSources,
): ApiListener {
  const registers = [registry];
  new Gauge({
    name: "import_active_uploads",
    help: "Import bodies that this process is receiving",
    registers,
    collect() {
      this.set(activeUploads());
    },
  });
  const received = new Counter({
    name: "import_received_bytes_total",
    help: "Bytes of received import bodies, after decompression and including dry runs",
    registers,
  });
  return {
    onImportEnded,
    onImportBytes: (bytes) => received.inc(bytes),
    ...createRequestMetrics(registry),
    ...createExportMetrics(registry, exportPermits),
  };
}

function createRequestMetrics(registry: Registry): Pick<ApiListener, "onAnswered"> {
  const registers = [registry];
  const requests = new Counter({
    name: "http_requests_total",
    help: "Requests by route pattern, method and status; the route of requests that match none is `none`",
    labelNames: ["route", "method", "status"],
    registers,
  });
  const durations = new Histogram({
    name: "http_request_duration_seconds",
    help: "Time from a request's headers to the end of its response, including uploads and exports",
    labelNames: ["route", "method"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600],
    registers,
  });
  return {
    onAnswered({ route, method: sent, status, durationMs }) {
      const method = METHODS.has(sent) ? sent : "other";
      requests.inc({ route, method, status: String(status) });
      durations.observe({ route, method }, durationMs / 1000);
    },
  };
}

/** Callers may send any method that Node's parser knows, such as MKCALENDAR. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"]);

function createExportMetrics(
  registry: Registry,
  { used }: ApiSources["exportPermits"],
): Pick<ApiListener, "onExported" | "onExportEnded"> {
  const registers = [registry];
  new Gauge({
    name: "export_permits_used",
    help: "Exports and long lists that this process is streaming; at most 20, and 5 per account",
    registers,
    collect() {
      this.set(used());
    },
  });
  const bytes = new Counter({
    name: "export_bytes_total",
    help:
      "Bytes of streamed responses (exports, aggregates, import logs, rejected lines): uncompressed if " +
      "sent with gzip, compressed if sent with zstd",
    registers,
  });
  const ended = new Counter({
    name: "exports_ended_total",
    help: "Streamed responses by outcome: complete, failed, or closed by the client",
    labelNames: ["ending"],
    registers,
  });
  for (const ending of EXPORT_ENDINGS) ended.inc({ ending }, 0);
  return {
    onExported: (exported) => bytes.inc(exported),
    onExportEnded: (ending) => ended.inc({ ending }),
  };
}
