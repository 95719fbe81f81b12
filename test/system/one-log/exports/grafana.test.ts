import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import type { ApiClient } from "../../../../deploy/demo/api-client.js";
import { DAY_MS, dateAt } from "../../../../schemas/date-range.js";
import { readCompanyOf } from "../../../support/imports/company-addresses.js";
import { makeOrganization, makePackage } from "../../../support/imports/make-artifacts.js";
import { sharedProgram } from "../../../support/program/program.js";
import { preparedStores } from "../../../support/stores/prepared-stores.js";

interface Target {
  url: string;
  root_selector: string;
  columns: { selector: string; text: string; type: string }[];
  datasource: { type: string; uid: string };
}

interface Panel {
  id: number;
  title: string;
  type: string;
  gridPos: { h: number; w: number; x: number; y: number };
  targets: Target[];
}

interface Dashboard {
  uid: string;
  panels: Panel[];
  templating: { list: { name: string; query: string | { infinityQuery: Target } }[] };
  annotations: { list: { name: string; target: Target }[] };
}

const dashboard = JSON.parse(readFileSync("deploy/grafana/downloads.json", "utf8")) as Dashboard;
const variables = dashboard.templating.list.flatMap(({ name, query }) =>
  typeof query === "string" ? [] : [{ title: `the variable ${name}`, target: query.infinityQuery }],
);
const notes = dashboard.annotations.list.map(({ name, target }) => ({ title: name, target }));
const shown = dashboard.panels.flatMap(({ title, targets }) => targets.map((target) => ({ title, target })));
const REQUESTS = [...variables, ...notes, ...shown].map(({ title, target }) => [title, target] as const);

const OWNER = "grafana";
const TODAY = dateAt(Date.now());
let api: ApiClient;
let values: Record<string, string>;

beforeAll(async () => {
  const toolchain = await sharedProgram();
  const owner = await toolchain.newAccount("grapher");
  await makeOrganization(owner, OWNER);
  const { id } = await makePackage(owner, { organization: OWNER, name: "tool", libraryType: "other" });
  const company = await readCompanyOf(preparedStores()?.networks ?? "");
  const lines = [company.address, "2a02:d180::1"].map((address) =>
    JSON.stringify({ $time: TODAY, $remote_address: address, $version: "1.0", $user_agent: "curl/8" }),
  );
  await owner.pollToDone(await owner.importBody(`/v2/packages/${OWNER}/tool/import`, lines.join("\n")));
  await owner.post(`/v2/${OWNER}/annotations`, { date: TODAY, text: "One" });
  // What the page tells people to make.
  const scopes = { name: "grafana", scopes: ["read", "import"] };
  const { token } = await owner.post<{ token: string }>("/v1/user/tokens", scopes);
  api = {
    ...owner,
    request: (path) => fetch(owner.url + path, { headers: { Authorization: `Bearer ${token}` } }),
  };
  const day = (days: number) => dateAt(Date.now() + days * DAY_MS);
  values = { owner: OWNER, package: id, "__from:date:YYYY-MM-DD": day(-29), "__to:date:YYYY-MM-DD": day(1) };
});

/** As Grafana fills an address in. */
const filled = (text: string) =>
  text.replace(/\$\{([^}]+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`the dashboard has no variable ${name}`);
    return encodeURIComponent(value);
  });

describe("the dashboard of downloads asks the API for what there is:", () => {
  test.each(REQUESTS)("%s", async (_, { url, root_selector: root, columns }) => {
    const answer = await api.request(filled(url));
    expect(answer.status, await answer.clone().text()).toBe(200);
    const body = (await answer.json()) as Record<string, unknown>;
    const rows = [root === "" ? body : body[root]].flat() as Record<string, unknown>[];
    if (root === "companies") return void expect(rows).toEqual([]);
    // Every column is a field of a row: a field may be absent from one row, not from all.
    const fields = new Set(rows.flatMap((row) => Object.keys(row)));
    expect(columns.map(({ selector }) => selector).filter((name) => !fields.has(name))).toEqual([]);
  });

  test("the fields of companies are those that the document describes", async () => {
    const document = (await (await api.request("/openapi.json")).json()) as {
      components: { schemas: Record<string, { properties: object }> };
    };
    const target = shown.find(({ target: { root_selector: root } }) => root === "companies")?.target;
    const known = Object.keys(document.components.schemas["Company"]?.properties ?? {});
    expect(target?.columns.map(({ selector }) => selector).filter((name) => !known.includes(name))).toEqual(
      [],
    );
  });
});

describe("the model of the dashboard", () => {
  test("has panels of their own ids and places", () => {
    const { panels } = dashboard;
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)} ${y + Math.floor(cell / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true);
  });

  test("reads by one datasource that people choose, and has another uid than the one of operations", () => {
    const uids = REQUESTS.map(([, { datasource }]) => `${datasource.type} ${datasource.uid}`);
    expect(new Set(uids)).toEqual(new Set(["yesoreyeram-infinity-datasource ${datasource}"]));
    const other = JSON.parse(readFileSync("deploy/grafana/maintainer-toolchain.json", "utf8")) as Dashboard;
    expect(dashboard.uid).not.toBe(other.uid);
  });
});
