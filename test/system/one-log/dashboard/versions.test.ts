import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ApiClient } from "../../../../deploy/demo/api-client.js";
import { dateAt } from "../../../../schemas/date-range.js";
import { type ReadPage, visit, type Visitor } from "../../../support/dashboard/visitor.js";
import { makeOrganization, makePackage } from "../../../support/imports/make-artifacts.js";
import { startToolchain, type Toolchain } from "../../../support/program/start-toolchain.js";

const TODAY = dateAt(Date.now());
const VERSIONS = ["1.4.0", "1.4.1", "1.4.1", "1.10.0", "2.0.0rc1", "latest"];

let toolchain: Toolchain;
let api: ApiClient;
/** Ids by type. */
let packages: Record<"npm" | "pypi" | "other", string>;
let owner: Visitor;
let member: Visitor;

beforeAll(async () => {
  toolchain = await startToolchain({ prepared: ["databases"] });
  api = await toolchain.newAccount("ada");
  await makeOrganization(api, "acme");
  const make = async (libraryType: "npm" | "pypi" | "other") =>
    (await makePackage(api, { organization: "acme", name: libraryType, libraryType })).id;
  packages = { npm: await make("npm"), pypi: await make("pypi"), other: await make("other") };
  const lines = Object.values(packages).flatMap((id) =>
    VERSIONS.map((version, index) =>
      JSON.stringify({
        $package: id,
        $time: TODAY,
        $version: version,
        $remote_address: index < 3 ? "141.113.0.20" : "3.5.140.2",
      }),
    ),
  );
  await api.pollToDone(await api.importBody("/v2/acme/import", lines.join("\n")));
  owner = await visit(toolchain.api, { username: "ada", token: api.token });
  const { token } = await toolchain.newAccount("mate");
  await api.post("/v1/organizations/acme/users", { username: "mate", role: "member" });
  member = await visit(toolchain.api, { username: "mate", token });
});

afterAll(() => toolchain?.close());

/** The texts of the rows of a table, by its caption. */
function rowsOf({ html }: ReadPage, caption: string): string[][] {
  const table = html.split("<table").find((each) => each.includes(`>${caption}</caption>`)) ?? "";
  const body = table.slice(table.indexOf("<tbody"), table.indexOf("</tbody>"));
  return body
    .split("<tr>")
    .slice(1)
    .map((row) =>
      row
        .split(/<t[hd]/)
        .slice(1)
        .map((cell) =>
          cell
            .replace(/^[^>]*>/, "")
            .replaceAll(/<[^>]*>/g, "")
            .trim(),
        ),
    );
}

describe.each(["npm", "pypi", "other"] as const)("the page of a package of the type %s", (type) => {
  test("lists its versions, those of equal counts the newest first, and groups them", async () => {
    const namesOf = async (query: string) =>
      rowsOf(await owner.get(`/o/acme/packages/${packages[type]}${query}`), "Versions").map(
        ([name, count]) => [name, count],
      );
    expect(await namesOf("")).toEqual([
      ["1.4.1", "2"],
      ["2.0.0rc1", "1"],
      ["1.10.0", "1"],
      ["1.4.0", "1"],
      ["latest", "1"],
    ]);
    expect(await namesOf("?versions=minor")).toEqual([
      ["1.4.x", "3"],
      ["2.0.x", "1"],
      ["1.10.x", "1"],
      ["latest", "1"],
    ]);
    expect(await namesOf("?versions=major&version=1.x")).toEqual([["1.x", "4"]]);
    const whole = await owner.get(`/o/acme/packages/${packages[type]}/all/version?versions=major`);
    expect(rowsOf(whole, "Versions")[0]?.slice(0, 2)).toEqual(["1.x", "4"]);
    expect(whole.html).toContain('aria-label="Group versions by"');
  });

  test("shows their adoption as a chart and as tables", async () => {
    const page = await owner.get(`/o/acme/packages/${packages[type]}?versions=minor`);
    expect(rowsOf(page, "Version adoption")[0]?.slice(0, 4)).toEqual(["1.4.x", "3", "50.0 %", "1"]);
    const adoption = rowsOf(page, "Share of downloads by version");
    expect(adoption.at(-1)?.slice(1)).toEqual(["50.0 %", "16.7 %", "16.7 %", "16.7 %"]);
    expect(page.html).toMatch(/aria-label="Share of downloads by version from [^"]* Latest: 50.0 % 1\.4\.x/);
  });
});

describe("dates of end of life", () => {
  const settings = () => `/o/acme/settings/packages/${packages.npm}`;
  const set = (version: string, date: string) =>
    owner.submit(settings(), { action: "end-of-life", version, date });

  test("are set, changed and removed in the settings, and shown with their use", async () => {
    expect((await set("1.x", "2031-01-31")).text).toContain("End-of-life dates saved.");
    await set("1.4.x", "2024-06-30");
    await set("1.x", "2025-01-31");
    const rows = [
      ["1.4.x", "30 Jun 2024 Ended", "3", "1", "1"],
      ["1.x", "31 Jan 2025 Ended", "4", "2", "1"],
    ];
    const plain = (page: ReadPage) =>
      rowsOf(page, "Usage of end-of-life versions").map((row) =>
        row.map((cell) => cell.replaceAll(/\s+/g, " ")),
      );
    expect(plain(await owner.get(`/o/acme/packages/${packages.npm}`))).toEqual(rows);
    expect(plain(await member.get(`/o/acme/packages/${packages.npm}`))).toEqual(rows);
    await owner.submit(settings(), { action: "remove-end-of-life", version: "1.4.x" });
    expect(rowsOf(await owner.get(settings()), "End of life").map(([version]) => version)).toEqual(["1.x"]);
  });

  test("are refused beside the field that is wrong", async () => {
    const refused = await owner.post(settings(), { action: "end-of-life", version: "3.x", date: "soon" });
    expect(refused.status).toBe(422);
    expect(refused.html).toContain('id="end-of-life-date-fault"');
    expect(refused.html).toContain('value="3.x"');
  });

  test("are not changed by a member", async () => {
    const sent = { action: "end-of-life", version: "1.x", date: "2030-01-31" };
    expect((await member.post(settings(), sent)).status).toBe(403);
    expect((await member.get(settings())).html).not.toContain("end-of-life");
  });
});
