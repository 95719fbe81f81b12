import { readFileSync } from "node:fs";

/** Every page, in the order in which their commands run: later pages use the account and the packages of the first import. */
export const PAGES = [
  "README.md",
  "deploy/docs/tutorials/first-import.md",
  "deploy/docs/how-to/importing.md",
  "deploy/docs/how-to/rejected-lines.md",
  "deploy/docs/reference/event-fields.md",
  "deploy/docs/reference/formats.md",
  "deploy/docs/reference/command.md",
  "deploy/docs/reference/exporting.md",
  "deploy/docs/how-to/analysing.md",
  "deploy/docs/reference/statistics.md",
  "deploy/docs/reference/what-counts.md",
  "deploy/docs/reference/collector.md",
  "deploy/docs/tutorials/web-server.md",
  "deploy/docs/tutorials/docker-image.md",
  "deploy/docs/tutorials/python-package.md",
  "deploy/docs/tutorials/npm-package.md",
  "deploy/docs/tutorials/release-files.md",
  "deploy/docs/tutorials/page-views.md",
  "deploy/docs/explanation/exactly-once.md",
  "deploy/docs/explanation/unique-ips.md",
  "deploy/docs/explanation/company-lookup.md",
  "deploy/docs/explanation/funnel.md",
  "deploy/docs/explanation/durability.md",
  "deploy/docs/explanation/privacy.md",
  "deploy/docs/how-to/host-names.md",
  "deploy/docs/how-to/dashboard.md",
  "deploy/docs/how-to/sources.md",
  "deploy/docs/how-to/companies.md",
  "deploy/docs/how-to/notifications.md",
  "deploy/docs/how-to/webhooks.md",
  "deploy/docs/how-to/badges.md",
  "deploy/docs/how-to/annotations.md",
  "deploy/docs/how-to/assistants.md",
  "deploy/docs/how-to/clients.md",
  "deploy/docs/how-to/sharing.md",
  "deploy/docs/how-to/sign-in.md",
  "deploy/docs/how-to/move-from-scarf.md",
  "deploy/docs/how-to/erasure.md",
  "deploy/docs/how-to/privacy-notice.md",
  "deploy/docs/reference/api.md",
  "deploy/docs/reference/admin.md",
  "deploy/docs/reference/configuration.md",
  "deploy/docs/reference/metrics.md",
  "deploy/docs/reference/stored-data.md",
  "deploy/docs/start/quickstart.md",
  "deploy/docs/start/core-ideas.md",
  "deploy/docs/start/cases.md",
  "deploy/docs/start/comparison.md",
  "deploy/docs/start/glossary.md",
  "deploy/README.md",
  "deploy/docs/operate/installations.md",
  "deploy/docs/operate/one-machine.md",
  "deploy/docs/operate/systemd.md",
  "deploy/docs/operate/compose.md",
  "deploy/docs/operate/kubernetes.md",
  "deploy/docs/operate/roles.md",
  "deploy/docs/operate/own-stores.md",
  "deploy/docs/operate/cluster.md",
  "deploy/docs/operate/sizing.md",
  "deploy/docs/operate/backup.md",
  "deploy/docs/operate/restore.md",
  "deploy/docs/operate/dead-letters.md",
  "deploy/docs/operate/retention.md",
  "deploy/docs/operate/upgrade.md",
  "deploy/docs/operate/hardening.md",
  "deploy/docs/operate/troubleshooting.md",
  "deploy/docs/operate/faq.md",
  "deploy/docs/contribute/contributing.md",
  "deploy/docs/contribute/architecture.md",
  "deploy/docs/contribute/releasing.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  "SECURITY.md",
] as const;

/** A fenced block of a page. */
export interface Block {
  page: string;
  /** 1-based, of the opening fence. */
  line: number;
  language: string;
  text: string;
  /** Why no test runs it, from `<!-- not run: reason -->` above it. */
  notRun?: string;
  /** The tool without which it is skipped, from `<!-- needs: tool -->` above it. */
  needs?: string;
}

export interface Command extends Block {
  /** The output that the page shows below it. */
  shown: string[];
}

/** The items of a list may have blocks, too, as far to the right as their text. */
const FENCE = /(?:^ *<!-- (not run|needs): (.+) -->\n)?^( *)```(\w*)\n([\s\S]*?)^\3```$/gm;

export function blocksOf(page: string, text = readFileSync(page, "utf8")): Block[] {
  return [...text.matchAll(FENCE)].map((match) => {
    const [whole, marker, reason, , language = "", content = ""] = match;
    const before = text.slice(0, match.index + whole.indexOf("```"));
    return {
      page,
      line: before.split("\n").length,
      language,
      text: content,
      ...(marker === "not run" && { notRun: reason }),
      ...(marker === "needs" && { needs: reason }),
    };
  });
}

/** The shell blocks that a test runs, each with the lines of the `json` or `text` block that follows it. */
export function commandsOf(page: string, text?: string): Command[] {
  const blocks = blocksOf(page, text);
  return blocks.flatMap((block, index) => {
    if (block.language !== "sh" || block.notRun !== undefined) return [];
    const next = blocks[index + 1];
    const shows = next !== undefined && OUTPUT.includes(next.language) && next.notRun === undefined;
    return [{ ...block, shown: shows ? next.text.trimEnd().split("\n") : [] }];
  });
}

const OUTPUT = ["json", "text"];

/** Ids and times differ from run to run. */
export function withoutIds(text: string): string {
  return text
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<id>")
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "<time>");
}

/** The shown lines that are not in the output, each after the one before it. */
export function missingLines(shown: readonly string[], output: string): string[] {
  const lines = withoutIds(output)
    .split(/\r?\n/)
    .map((line) => line.trimEnd());
  let from = 0;
  return shown.filter((line) => {
    const at = lines.indexOf(withoutIds(line).trimEnd(), from);
    if (at >= 0) from = at + 1;
    return at < 0;
  });
}
