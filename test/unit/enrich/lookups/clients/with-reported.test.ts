import { describe, expect, it } from "vitest";
import { openClients } from "../../../../../enrich/lookups/clients/open-clients.js";
import { UNKNOWN_CLIENT, type ReportedClient } from "../../../../../schemas/records/enriched-event.js";

const clients = openClients({ cacheBytesMax: 10_000 });

const clientOf = (userAgent: string, reported?: ReportedClient) => clients.of(userAgent, reported);

describe("the client of a live event", () => {
  it("has the platform that its request names, under the name of exports", () => {
    expect(clientOf("curl/8.9.1 (Windows)", { platform: "darwin" })).toEqual({
      client: "curl",
      clientVersion: "8.9.1",
      platform: "macOS",
      automated: "",
    });
    expect(clientOf("curl/8.9.1", { platform: "riscos" }).platform).toBe("riscos");
  });

  it("has the client and the version that its request reports", () => {
    const reported = { client: "Node", clientVersion: "v22.11.0", platform: "win32" };
    expect(clientOf("node", reported)).toEqual({
      client: "node",
      clientVersion: "22.11.0",
      platform: "Windows",
      automated: "",
    });
  });

  it("has a client that is reported without a version only if its user agent names none", () => {
    expect(clientOf("", { client: "npm" })).toEqual({ ...UNKNOWN_CLIENT, client: "npm" });
    expect(clientOf("npm/10.9.0 node/v22 linux x64", { client: "npm" }).clientVersion).toBe("10.9.0");
  });

  it("is automated as its user agent says, whatever its request reports", () => {
    expect(clientOf("npm/10.9.0 node/v22 linux x64 ci/github-actions", { platform: "linux" }).automated).toBe(
      "ci",
    );
    expect(clientOf("Googlebot/2.1", { client: "npm", clientVersion: "10.9.0" }).automated).toBe("bot");
  });

  it("shares the client of its user agent where its request says nothing", () => {
    expect(clientOf("curl/8.9.1", {})).toBe(clientOf("curl/8.9.1"));
  });
});
