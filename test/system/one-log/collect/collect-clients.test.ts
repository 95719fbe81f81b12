import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openCollectWorld, type CollectWorld } from "../../../support/collect/collect-world.js";
import { describeWithCommand } from "../../../support/program/describe-with-command.js";
import { newNpmPackage, newPythonPackage } from "../../../support/collect/registry-packages.js";
import { runCommand } from "../../../support/program/run-command.js";
import { startProxy } from "../../../support/collect/start-proxy.js";
import { startServer, type StartedServer } from "../../../support/collect/start-server.js";

let world: CollectWorld;
let upstream: StartedServer;
let folder: string;
/** The upstream's files, by path, with their content types. */
const served = new Map<string, [type: string, body: string | Buffer]>();
const answerUpstream: RequestListener = ({ url = "" }, response) => {
  const [type, body] = served.get(url) ?? ["text/plain", ""];
  response.writeHead(served.has(url) ? 200 : 404, { "Content-Type": type }).end(body);
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "collect-clients-"));
  upstream = await startServer(answerUpstream);
  world = await openCollectWorld({ env: { COLLECT_ALLOW_PRIVATE_UPSTREAMS: "true" } });
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await upstream?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const collectPort = () => new URL(world.toolchain.endpoints.collect ?? "").port;

async function eventsOf(id: string) {
  return (await world.events(id)).map(({ type, version, client, times }) => ({
    type,
    version,
    client,
    times,
  }));
}

const PIP = { command: ["python3", "-m", "pip"], install: "Python with pip" } as const;

describeWithCommand("pip", PIP, () => {
  const HASHED = "a wheel, with its hash and its metadata";
  const project = "acme_tools";
  let wheel: string;
  let bytes: Buffer;

  beforeAll(async () => {
    const made = await runCommand("python3", [
      "test/support/collect/make-wheel.py",
      folder,
      project,
      "1.4.0",
    ]);
    wheel = made.trim();
    bytes = await readFile(join(folder, wheel));
    served.set(`/files/${wheel}`, ["application/zip", bytes]);
    served.set(`/files/${wheel}.metadata`, ["text/plain", await readFile(join(folder, `${wheel}.metadata`))]);
  });

  const sha256 = (content: Buffer) => createHash("sha256").update(content).digest("hex");
  const html = () =>
    `<!DOCTYPE html><a href="../../files/${wheel}#sha256=${sha256(bytes)}" data-core-metadata="true">${wheel}</a>`;
  const json = () =>
    JSON.stringify({
      meta: { "api-version": "1.0" },
      name: "acme-tools",
      files: [{ filename: wheel, url: `../../files/${wheel}`, hashes: { sha256: sha256(bytes) } }],
    });

  test.each([
    ["HTML", "text/html; charset=utf-8", html],
    ["JSON", "application/vnd.pypi.simple.v1+json", json],
  ])(
    `downloads ${HASHED}, through the domain of a package whose upstream speaks %s`,
    async (form, type, page) => {
      served.set(`/${form}/acme-tools/`, [type, page()]);
      const domain = `${form.toLowerCase()}.pkgs.example.org`;
      const made = { name: form, domain, repositoryURL: `${upstream.url}/${form}/` };
      const id = await newPythonPackage(world, made);
      const to = join(folder, form);
      await downloadWithPip({ domain, to, requirement: "Acme.Tools==1.4.0" });
      expect(await readdir(to)).toEqual([wheel]);
      expect(await readFile(join(to, wheel))).toEqual(bytes);
      await expect
        .poll(() => eventsOf(id))
        .toEqual([{ type: "package-download", version: "1.4.0", client: "pip", times: 1 }]);
    },
  );

  test("refuses a file that is not what the index says, although the host is another", async () => {
    const wrong = html().replace(/sha256=../, "sha256=00");
    served.set("/wrong/acme-tools/", ["text/html", wrong]);
    const domain = "wrong.pkgs.example.org";
    await newPythonPackage(world, { name: "wrong", domain, repositoryURL: `${upstream.url}/wrong/` });
    const download = downloadWithPip({ domain, to: join(folder, "wrong"), requirement: "acme-tools" });
    await expect(download).rejects.toThrow("DO NOT MATCH THE HASHES");
  });

  async function downloadWithPip({
    domain,
    to,
    requirement,
  }: {
    domain: string;
    to: string;
    requirement: string;
  }) {
    await using proxy = await startProxy(collectPort);
    const from = ["--index-url", `http://${domain}/simple/`, "--trusted-host", domain, "--proxy", proxy.url];
    const quiet = [
      "--isolated",
      "--no-cache-dir",
      "--disable-pip-version-check",
      "--no-deps",
      "--retries",
      "0",
    ];
    const args = ["-m", "pip", "download", ...quiet, ...from, "--dest", to, requirement];
    // Behind a proxy, pip would take the machine's variables first.
    const env = { http_proxy: proxy.url, HTTP_PROXY: proxy.url, no_proxy: "", NO_PROXY: "" };
    return await runCommand("python3", args, { env });
  }
});

describeWithCommand("curl", { command: ["curl"], install: "curl" }, () => {
  test("follows a route of a file package to the file", async () => {
    served.set("/releases/2.1/tool.tar.gz", ["application/gzip", "the file"]);
    const domain = "get.example.org";
    const routes = [
      { templatePath: "/{version}/tool", outgoingUrl: `${upstream.url}/releases/{version}/tool.tar.gz` },
    ];
    const id = await world.newFilePackage({ name: "tool", domains: [domain], routes });
    const address = ["--resolve", `${domain}:${collectPort()}:127.0.0.1`, "--noproxy", "*"];
    const got = await runCommand("curl", ["-sSfL", ...address, `http://${domain}:${collectPort()}/2.1/tool`]);
    expect(got).toBe("the file");
    await expect
      .poll(() => eventsOf(id))
      .toEqual([{ type: "file-download", version: "2.1", client: "curl", times: 1 }]);
  });
});

describeWithCommand("npm", { command: ["npm"], install: "Node.js with npm" }, () => {
  /** As the install scripts of libraries that report do it. */
  const REPORT = `
    const { request } = require("node:http");
    const { npm_package_name: name, npm_package_version: version, REPORT_TO } = process.env;
    const dependencyInfo = { parent: { name, version } };
    const report = { libraryType: "npm", rawPlatform: process.platform, rawArch: process.arch, dependencyInfo };
    request(REPORT_TO, { method: "POST", headers: { "Content-Type": "application/json" } }, (answer) => {
      process.exitCode = answer.statusCode === 200 ? 0 : 1;
      answer.resume();
    }).end(JSON.stringify(report));`;

  test("installs a package whose install script reports", async () => {
    const id = await newNpmPackage(world, "@acme/reporting");
    // Made later, so that what came before is known when it is served.
    await newPythonPackage(world, {
      name: "later",
      domain: "later.example.org",
      repositoryURL: upstream.url,
    });
    const [library, app] = [join(folder, "library"), join(folder, "app")];
    await Promise.all([mkdir(library), mkdir(app)]);
    const scripts = { postinstall: "node report.cjs" };
    const packed = { name: "@acme/reporting", version: "5.0.1", scripts };
    await writeFile(join(library, "package.json"), JSON.stringify(packed));
    await writeFile(join(library, "report.cjs"), REPORT);
    await writeFile(join(app, "package.json"), JSON.stringify({ allowScripts: { "@acme/reporting": true } }));
    await runCommand("npm", ["pack", "--silent", "--pack-destination", app], { cwd: library });
    const install = ["install", "--offline", "--no-audit", "--no-fund", "--ignore-scripts=false"];
    const env = { REPORT_TO: `http://127.0.0.1:${collectPort()}/package-event/install` };
    await runCommand("npm", [...install, "./acme-reporting-5.0.1.tgz"], { cwd: app, env });
    await expect
      .poll(() => eventsOf(id))
      .toEqual([{ type: "package-download", version: "5.0.1", client: "", times: 1 }]);
  });
});
