import { isbot } from "isbot";
import type { Automated } from "../../../schemas/records/enriched-event.js";
import { BROWSER } from "./parse-package-client.js";

/**
 * Whether a program asked by itself: `bot` (robots, monitors and updaters), `ci` (an installer that says so, or a program
 * of continuous integration) or `mirror` (copies of registries); empty for all others. The user agent alone decides:
 * many installers do not say where they run.
 */
export function findAutomated(userAgent: string, client: string): Automated {
  if (CI.some((pattern) => pattern.test(userAgent))) return "ci";
  const known = KNOWN.get(client) ?? "";
  if (known !== "" || BOT_NAME.test(client)) return known || "bot";
  // isbot takes every program that is no browser for a robot.
  return BROWSER.test(userAgent) && isbot(userAgent) ? "bot" : "";
}

const BOT_NAME = /(?:bot|crawler|spider)(?:-\w{1,20})?$/i;

/** Signs of continuous integration, as installers write them when its environment variables are set. */
const CI: readonly RegExp[] = [
  // pypa/pip src/pip/_internal/network/session.py, astral-sh/uv crates/uv-client/src/linehaul.rs
  /^(?:pip|uv)\/\S{1,64} \{.{0,2000}"ci": ?true\b/,
  // npm/cli workspaces/config/lib/definitions/definitions.js, rubygems/rubygems bundler/lib/bundler/fetcher.rb
  /^(?:npm|bundler)\/\S{1,64} .{0,500}\bci\/\w/,
  // composer/composer src/Composer/Util/StreamContextFactory.php
  /^Composer\/\S{1,64} \(.{0,500}; CI\)/,
  // actions/runner src/Runner.Common/HostContext.cs
  /^GitHubActionsRunner-/i,
];

/** Names of `clientName`. */
const KNOWN: ReadonlyMap<string, Automated> = new Map([
  ...of("ci", "gitlab-runner buildkite-agent jenkins actions-http-client actions-tool-cache"),
  ...of(
    "mirror",
    "bandersnatch devpi z3c.pypimirror pep381client verdaccio artifactory nexus pulp harbor gomodulemirror",
  ),
  ...of(
    "bot",
    "Mediapartners-Google Google-InspectionTool GoogleOther ChatGPT-User Claude-User facebookexternalhit",
  ),
  ...of("bot", "WhatsApp Slackbot-LinkExpanding sogou screaming-frog scrapy renovate"),
  ...of("bot", "blackbox-exporter kube-probe elb-healthchecker googlehc"),
]);

function of(kind: Automated, names: string): [name: string, kind: Automated][] {
  return names.split(" ").map((name) => [name, kind]);
}
