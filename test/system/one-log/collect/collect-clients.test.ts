import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { useCollectWorld, world } from "../../../support/collect/collect-world.js";
import { countEvents, eventsBefore } from "../../../support/collect/collect-cases.js";
import {
  indexHtml,
  serveWheel,
  type ServedFiles,
  type Wheel,
  downloadWithPip,
  installWithUv,
} from "../../../support/collect/python-installers.js";
import { describeWithCommand } from "../../../support/describe-or-skip.js";
import { newNpmPackage, newPythonPackage } from "../../../support/collect/registry-packages.js";
import { runCommand } from "../../../support/program/run-command.js";
import { startProxy } from "../../../support/collect/start-server.js";
import { useServer } from "../../../support/collect/use-server.js";
import { useFolder } from "../../../support/use-folder.js";

const folder = useFolder("collect-clients");
/** The upstream's files, by path, with their content types. */
const served: ServedFiles = new Map();
const answerUpstream: RequestListener = ({ url = "", headers }, response) => {
  const [type, body] = served.get(url) ?? ["text/plain", ""];
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? "") ?? [];
  const part = Buffer.from(body).subarray(Number(first ?? 0), Number(last ?? Infinity) + 1);
  const place = first && { "Content-Range": `bytes ${first}-${last}/${body.length}` };
  const sent = { "Content-Type": type, "Content-Length": part.length, "Accept-Ranges": "bytes", ...place };
  response.writeHead(place ? 206 : served.has(url) ? 200 : 404, sent).end(part);
};

const upstream = useServer(answerUpstream);
useCollectWorld({ env: { COLLECT_ALLOW_PRIVATE_UPSTREAMS: "true" } });

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
const UV = { command: ["uv"], install: "uv (https://docs.astral.sh/uv)", rare: true } as const;

describeWithCommand("pip", PIP, () => {
  const HASHED = "a wheel, with its hash and its metadata";
  let wheel: Wheel;
  beforeAll(async () => {
    const parts = { folder, project: "acme_tools", version: "1.4.0" };
    wheel = await serveWheel(served, parts);
  });

  const json = () =>
    JSON.stringify({
      meta: { "api-version": "1.0" },
      name: "acme-tools",
      files: [{ filename: wheel.name, url: `../../files/${wheel.name}`, hashes: { sha256: wheel.sha256 } }],
    });

  test.each([
    ["HTML", "Acme_Tools", "text/html; charset=utf-8", () => indexHtml(wheel)],
    ["JSON", "Acme.Tools", "application/vnd.pypi.simple.v1+json", json],
  ])(
    `downloads ${HASHED}, through the domain of a package whose upstream speaks %s`,
    async (form, name, type, page) => {
      served.set(`/${form}/acme-tools/`, [type, page()]);
      const domain = `${form.toLowerCase()}.pkgs.example.org`;
      const id = await newPythonPackage(world, { name, domain, repositoryURL: `${upstream().url}/${form}/` });
      const to = join(folder, form);
      await downloadWithPip({ domain, to, requirement: "Acme.Tools==1.4.0", port: collectPort });
      expect(await readdir(to)).toEqual([wheel.name]);
      expect(await readFile(join(to, wheel.name))).toEqual(wheel.bytes);
      await expect
        .poll(() => eventsOf(id))
        .toEqual([{ type: "package-download", version: "1.4.0", client: "pip", times: 1 }]);
    },
  );

  test("refuses a file that is not what the index says, although the host is another", async () => {
    const domain = "wrong.pkgs.example.org";
    await newPythonPackage(world, { name: "wrong", domain, repositoryURL: `${upstream().url}/wrong/` });
    const before = await countEvents(world);
    served.set("/wrong/acme-tools/", [
      "text/html",
      indexHtml(wheel).replace(/sha256=\w{64}/, `sha256=${"0".repeat(64)}`),
    ]);
    const download = downloadWithPip({
      domain,
      to: join(folder, "wrong"),
      requirement: "acme-tools",
      port: collectPort,
    });
    await expect(download).rejects.toThrow("DO NOT MATCH THE HASHES");
    // The file was asked for, for another package of the owner. The next test counts the events of all.
    await expect.poll(() => countEvents(world)).toBe(before + 1);
  });

  test("counts once for a package with a dependency", () => expectOneEvent("pip", downloadWithPip));
});

describeWithCommand("uv", UV, () => {
  test("counts once for a package with a dependency", () => expectOneEvent("uv", installWithUv));

  test("counts an installation once, and a resolution not, from an index without core metadata", async () => {
    const { domain, count } = await publishPlain("uv-plain");
    const wanted = { domain, to: join(folder, "uv-plain"), requirement: "uv-plain", port: collectPort };
    await installWithUv({ ...wanted, isDry: true });
    await installWithUv(wanted);
    expect(await count()).toEqual(["uv"]);
  });
});

test("the requests of uv count an installation once, and a resolution not, from an index without core metadata", async () => {
  const { domain, wheel, path, count } = await publishPlain("as-uv");
  const ask = (method: string, range: object) =>
    world.call({ method, path, host: domain, headers: { "User-Agent": "uv/0.9.2", ...range } });
  const tail = { Range: `bytes=10-${wheel.bytes.length - 1}` };
  for (const each of ["resolution", "installation"]) {
    expect((await ask("HEAD", {})).status, each).toBe(307);
    expect(await ask("GET", tail), each).toMatchObject({ status: 206, body: wheel.bytes.subarray(10) });
  }
  expect((await ask("GET", {})).status).toBe(307);
  expect(await count()).toEqual(["uv"]);
});

/** A package whose index says nothing of its wheel's metadata. */
async function publishPlain(name: string) {
  const domain = `${name}.example.org`;
  const wheel = await serveWheel(served, { folder, project: name.replace("-", "_"), version: "1.0" });
  served.set(`/plain/${name}/`, ["text/html", indexHtml(wheel).replace(' data-core-metadata="true"', "")]);
  const id = await newPythonPackage(world, { name, domain, repositoryURL: `${upstream().url}/plain/` });
  const path = `/simple/${name}/${wheel.name}`;
  const count = async () =>
    (await eventsBefore(world, { id, count: 1, marker: { path, host: domain } })).map(({ client }) => client);
  return { domain, wheel, path, count };
}

/** The package of a domain requires another of its owner and one of somebody else. */
async function expectOneEvent(client: string, install: typeof downloadWithPip) {
  const [app, base, other] = [`${client}-app`, `${client}-base`, `${client}-other`];
  const repositoryURL = `${upstream().url}/${client}/`;
  const publish = async (project: string, version: string, requires: string[] = []) => {
    const parts = { folder, project: project.replace("-", "_"), version, requires };
    const page = indexHtml(await serveWheel(served, parts));
    served.set(`/${client}/${project}/`, ["text/html", page]);
  };
  await publish(app, "2.0.1", [other, `${base}>=0.3`]);
  await publish(base, "0.3");
  await publish(other, "9.1");
  const domain = `${app}.example.org`;
  const baseId = await newPythonPackage(world, { name: base, domain: `${base}.example.org`, repositoryURL });
  const appId = await newPythonPackage(world, { name: app, domain, repositoryURL });
  const before = await countEvents(world);
  const to = join(folder, client);
  await install({ domain, to, requirement: app, port: collectPort });
  const installed = (await readdir(to)).filter((name) => /\.whl$|\.dist-info$/.test(name));
  expect(installed).toHaveLength(3);
  const download = { type: "package-download", client, times: 1 };
  await expect.poll(() => eventsOf(appId)).toEqual([{ ...download, version: "2.0.1" }]);
  await expect.poll(() => eventsOf(baseId)).toEqual([{ ...download, version: "0.3" }]);
  expect(await countEvents(world)).toBe(before + 2);
}

describeWithCommand("curl", { command: ["curl"], install: "curl" }, () => {
  test("follows a route of a file package to the file", async () => {
    served.set("/releases/2.1/tool.tar.gz", ["application/gzip", "the file"]);
    const domain = "get.example.org";
    const routes = [
      { templatePath: "/{version}/tool", outgoingUrl: `${upstream().url}/releases/{version}/tool.tar.gz` },
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

const SCARF = {
  command: ["python3", "-c", "import scarf"],
  install: "scarf-sdk from PyPI",
  rare: true,
} as const;

describeWithCommand("scarf-py", SCARF, () => {
  test("has its properties kept by a route that only collects", async () => {
    const domain = "telemetry.example.org";
    const routes = [{ templatePath: "/collect", outgoingUrl: "" }];
    const id = await world.newFilePackage({ name: "telemetry", domains: [domain], routes });
    const script = `import scarf; logger = scarf.ScarfEventLogger("http://${domain}/collect")
logger.log_event({"event": "start", "version": "1.0", "details": {"jobs": 4, "on": ["a"]}})`;
    await using proxy = await startProxy(collectPort);
    const env = { http_proxy: proxy.url, no_proxy: "", NO_PROXY: "", DO_NOT_TRACK: "" };
    await runCommand("python3", ["-c", script], { env });
    const variables = { event: "start", version: "1.0", "details.jobs": "4", "details.on": '["a"]' };
    await expect.poll(() => world.events(id)).toMatchObject([{ version: "1.0", variables }]);
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
      repositoryURL: upstream().url,
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
      .toEqual([{ type: "package-download", version: "5.0.1", client: "npm", times: 1 }]);
  });
});
