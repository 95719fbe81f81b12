import { describe, expect, it } from "vitest";
import { classifyOrganization } from "../../../../../enrich/lookups/networks/classify-organization.js";
import { testTable } from "../../../../support/test-table.js";

describe("classifyOrganization", () => {
  testTable("takes %j for %s", classifyOrganization, [
    ["Valley Telecom Ltda", "isp"],
    ["TRUE TELECOMUNICACOES EIRELI", "isp"],
    ["TelekomNet GmbH", "isp"],
    ["Mountain Broadband, LLC", "isp"],
    ["CABLEVISION S.A.", "isp"],
    ["Sparkle Wireless", "isp"],
    ["Hill Country Communications", "isp"],
    ["City Fibre Ltd", "isp"],
    ["Speedynet Provedor de Internet", "isp"],
    ["Orbit Mobile", "isp"],
    ["AlfaHosting GmbH", "hosting"],
    ["Frankfurt Data Center Operations", "hosting"],
    ["Cheap VPS", "hosting"],
    ["Blue Cloud Computing", "hosting"],
    ["University of Somewhere", "education"],
    ["Universidade Federal do Norte", "education"],
    ["Springfield College", "education"],
    ["Fachhochschule Dortmund", "education"],
    ["Ministry of Health", "government"],
    ["Prefeitura Municipal de Lugar", "government"],
    ["City of Springfield", "government"],
    ["Widgets International Inc.", "business"],
    ["Planet Magnet Cabinet", "business"],
    ["Hostess Brands", "business"],
    ["Automobile Club", "business"],
    ["", "business"],
  ]);

  it("takes no time over a name that was made to take long", () => {
    expect(classifyOrganization("tele".repeat(200) + "-".repeat(200))).toBe("business");
  });
});
