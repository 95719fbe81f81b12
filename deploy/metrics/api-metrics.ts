import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { EXPORT_ENDINGS, type ApiWatch } from "../../api/api-watch.js";

export interface ApiSources extends Pick<ApiWatch, "onImportEnded"> {
  /** How many import bodies are being received by this process. */
  activeUploads: () => number;
}

/** What an operator watches of a process with the role `api`. Labels have few values: patterns of routes, never paths. */
export function createApiMetrics(registry: Registry, { onImportEnded, activeUploads }: ApiSources): ApiWatch {
  const registers = [registry];
  new Gauge({
    name: "import_active_uploads",
    help: "Import bodies that this process is receiving now",
    registers,
    collect() {
      this.set(activeUploads());
    },
  });
  const received = new Counter({
    name: "import_received_bytes_total",
    help: "Bytes of import bodies, after decompression, dry runs included",
    registers,
  });
  return {
    onImportEnded,
    onImportBytes: (bytes) => received.inc(bytes),
    ...createRequestMetrics(registry),
    ...createExportMetrics(registry),
  };
}

function createRequestMetrics(registry: Registry): Pick<ApiWatch, "onAnswered"> {
  const registers = [registry];
  const requests = new Counter({
    name: "http_requests_total",
    help: "Requests by the pattern of their route, method and status; none where it never had one",
    labelNames: ["route", "method", "status"],
    registers,
  });
  const durations = new Histogram({
    name: "http_request_duration_seconds",
    help: "Time from a request's headers to the end of its answer, uploads and exports included",
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

/** Callers may send any that Node's parser knows, such as MKCALENDAR. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"]);

function createExportMetrics(registry: Registry): Pick<ApiWatch, "onExported" | "onExportEnded"> {
  const registers = [registry];
  const bytes = new Counter({
    name: "export_bytes_total",
    help: "Bytes of streamed answers: exports, aggregates, import logs, rejected lines; before gzip, after zstd",
    registers,
  });
  const ended = new Counter({
    name: "exports_ended_total",
    help: "Streamed answers by how they ended: complete, failed here, or left by their caller",
    labelNames: ["ending"],
    registers,
  });
  for (const ending of EXPORT_ENDINGS) ended.inc({ ending }, 0);
  return {
    onExported: (exported) => bytes.inc(exported),
    onExportEnded: (ending) => ended.inc({ ending }),
  };
}
