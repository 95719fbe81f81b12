import type { CollectCall } from "./collect-client.js";

/** The report of a program that uses its library, and the row of the export that it becomes. */
export interface TelemetryReport {
  call: Pick<CollectCall, "method" | "path" | "body"> & { headers: Record<string, string> };
  /** `variables` as a sorted query string. */
  row: { version: string; platform: string; variables: Record<string, string> };
}

const JSON_TYPE = { "Content-Type": "application/json" };

/**
 * Requests of libraries that report to a URL of their user's choice, in the form that their documentation and source
 * give: github.com/scarf-sh/scarf-py, scarf-java, scarf-go and scarf-shell.
 */
export const TELEMETRY_REPORTS: Record<string, TelemetryReport> = {
  "scarf-py": {
    call: {
      method: "POST",
      path: "/collect",
      headers: { ...JSON_TYPE, "User-Agent": "scarf-py/0.2.1 (platform=linux; arch=x86_64, python=3.11.7)" },
      body: '{"event": "start", "version": "1.0.0", "details": {"platforms": ["linux", "macos"], "jobs": 4}}',
    },
    row: {
      version: "1.0.0",
      platform: "Linux",
      variables: {
        event: "start",
        version: "1.0.0",
        "details.platforms": '["linux","macos"]',
        "details.jobs": "4",
      },
    },
  },
  "scarf-java": {
    call: {
      method: "POST",
      path: "/collect",
      headers: { ...JSON_TYPE, "User-Agent": "scarf-java/0.1.2 (platform=linux; arch=amd64, java=21.0.4)" },
      body: '{"event":"start","version":"2.0","platform":"riscos","ok":true}',
    },
    row: {
      version: "2.0",
      platform: "riscos",
      variables: { event: "start", version: "2.0", platform: "riscos", ok: "true" },
    },
  },
  "scarf-go": {
    call: {
      method: "POST",
      path: "/collect?event=package+download&ratio=0.5&tags=%5B%22a%22%2C%22b%22%5D&version=1.0.0%2Brc1",
      headers: { "User-Agent": "scarf-go/0.1.0 (linux; amd64) go/go1.22.3", "Content-Length": "0" },
    },
    row: {
      version: "1.0.0+rc1",
      platform: "Linux",
      variables: { event: "package download", ratio: "0.5", tags: '["a","b"]', version: "1.0.0+rc1" },
    },
  },
  "scarf-shell": {
    call: {
      method: "POST",
      path: "/collect?platform=Linux&elapsed_time=12&exit_code=0&version=3.1.4",
      headers: { "User-Agent": "curl/8.5.0" },
    },
    row: {
      version: "3.1.4",
      platform: "Linux",
      variables: { platform: "Linux", elapsed_time: "12", exit_code: "0", version: "3.1.4" },
    },
  },
};
