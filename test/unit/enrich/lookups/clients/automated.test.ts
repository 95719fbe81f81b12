import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseClient } from "../../../../../enrich/lookups/clients/open-clients.js";
import { testTable } from "../../../../support/test-table.js";

const agentsIn = (name: string) =>
  readFileSync(new URL(`../../../../fixtures/user-agents/${name}`, import.meta.url), "utf8")
    .trimEnd()
    .split("\n");

describe("automated is bot", () => {
  test.each(agentsIn("bots.txt"))("of %s", (agent) => expect(parseClient(agent).automated).toBe("bot"));
});

describe("automated is empty", () => {
  test.each(agentsIn("people.txt"))("of %s", (agent) => expect(parseClient(agent).automated).toBe(""));
});

test.each([
  "pep381client-proxy/1.5",
  "pep381client/1.5",
  "sync.cnpmjs.org/1.0",
  "sync.cnpmjs.org",
  "npmcore.cnpmjs.org/3.5 urllib/3.19",
  "registry.npmmirror.com",
  "cnpmcore/3.47.0",
  "sinopia/1.4.0",
  "pypicloud/1.3.0",
  "ProGet/2023.27",
  "apt-cacher-ng/3.7.4",
  "Nexus/3.61.0-02 (OSS; Linux; 5.15; amd64; 1.8.0_362)",
  '"bandersnatch/6.1.0"',
  "pulpcore/3.40.0 (cpython 3.9.18-final0, Linux x86_64) (aiohttp 3.9.1)",
])("automated is mirror of %s", (agent) => expect(parseClient(agent).automated).toBe("mirror"));

test.each([
  'Hatch/1.9.1 {"ci":true,"cpu":"x86_64","implementation":{"name":"CPython","version":"3.12.0"}}',
  'Hatch/1.9.1 {"cpu":"x86_64","ci": true}',
  'hatch/1.12.0 {"ci":true}',
  'pdm/2.12.0 {"ci":true}',
  'pip/24.0 {"ci":true}',
  '"pip/24.0 {"ci":true}"',
  "npm/10.2.3 node/v20.10.0 linux x64 workspaces/false ci/github-actions",
  "pnpm/8.12.0 npm/? node/v20.10.0 linux x64 ci/custom",
  "yarn/1.22.21 npm/? node/v20.10.0 linux x64 ci/gitlab",
])("automated is ci of %s", (agent) => expect(parseClient(agent).automated).toBe("ci"));

test.each([
  'Hatch/1.9.1 {"ci":null,"cpu":"x86_64"}',
  'Hatch/1.9.1 {"ci":false}',
  'curl/8.5.0 ("ci":true)',
  "npm/10.2.3 node/v20.10.0 linux x64 workspaces/false",
])("automated is no ci of %s", (agent) => expect(parseClient(agent).automated).toBe(""));

const clientOf = (agent: string) => {
  const { client, clientVersion } = parseClient(agent);
  return `${client} ${clientVersion}`;
};

testTable("an agent within quotes is what is in them: %s is %s", clientOf, [
  ['"curl/8.5.0"', "curl 8.5.0"],
  ["'curl/8.5.0'", "curl 8.5.0"],
  ['""Wget/1.21.4""', "wget 1.21.4"],
  ['" pip/24.0 "', "pip 24.0"],
  ['"docker/27.3.1 go/go1.22.7"', "docker 27.3.1"],
  ['"curl/8.5.0', "curl 8.5.0"],
  ['"Mozilla/5.0 (Windows NT 10.0; rv:132.0) Gecko/20100101 Firefox/132.0"', "Firefox 132.0"],
  ['"Googlebot/2.1 (+http://www.google.com/bot.html)"', "Googlebot 2.1"],
  ["`uv/0.5.1`", "uv 0.5.1"],
]);
