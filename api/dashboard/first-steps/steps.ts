import { path } from "../../web/address.js";
import { guideFile, readGuide } from "../../web/guide-files.js";
import type { Visit } from "../../web/page.js";
import type { Beginning, Case } from "./cases.js";
import type { StepFormKind } from "./step-form.js";

export interface Step {
  title: string;
  about?: string;
  text?: string;
  /** A form of the package's settings that does this step, for those who may change the package. */
  form?: StepFormKind;
}

/** The hosts of a package, where it has some: commands name them in place of an example. */
export interface KnownHosts {
  /** The first domain. */
  domain?: string | undefined;
  /** An image's, such as https://cr.example.org/acme/web. */
  publicUrl?: string | undefined;
}

interface StepsFor {
  chosen: Case;
  subject: Beginning;
  known: KnownHosts;
}

/** The steps to the first event, in order. */
export function stepsFor({ ctx, owner }: Visit, { chosen, subject, known }: StepsFor): Step[] {
  const { publicBase, collectBase } = ctx.state;
  const id = subject.kind === "pixel" ? subject.found.id : subject.found.uuid;
  const { name } = subject.found;
  const about = { api: publicBase, collect: collectBase, owner: owner.name, id, name, ...known };
  return (STEPS[chosen.name] ?? logSteps)(about);
}

interface About extends KnownHosts {
  /** URLs without a slash at their ends. */
  api: string;
  collect: string;
  owner: string;
  id: string;
  name: string;
}

const STEPS: Readonly<Record<string, (about: About) => Step[]>> = {
  logs: logSteps,
  files: fileSteps,
  docker: dockerSteps,
  python: pythonSteps,
  npm: npmSteps,
  pixel: pixelSteps,
};

/** The variable of the shell that has the token, in every command. */
export const TOKEN = "$MAINTAINER_TOKEN";

function logSteps({ api, owner, id }: About): Step[] {
  const importPath = path`/v2/packages/${owner}/${id}/import`;
  return [
    {
      title: "Write one JSON line per download",
      about: "Only $time is required. A later line with the same $unique_id replaces the earlier one.",
      text: `cat > events.ndjson <<'END'
{"$time": "${new Date().toISOString().slice(0, 10)}T08:00Z", "$unique_id": "1", "$remote_address": "141.113.0.20", "$user_agent": "curl/8.5.0", "$version": "1.0.0"}
END`,
    },
    {
      title: "Import the file",
      about: "Add ?dryRun=true to the URL to see which lines would be rejected, without importing anything.",
      text: `curl -sS --fail-with-body -X POST -T events.ndjson "${api}${importPath}" \\
  -H "Authorization: Bearer ${TOKEN}" -H 'Content-Type: application/ndjson'`,
    },
    {
      title: "Or import an nginx or Apache access log",
      about:
        "Run this in a checkout of Maintainer Toolchain. Every successful GET of a file counts; --help lists the options.",
      text: accessLogLine({ api, owner, id }),
    },
  ];
}

/** The collector without TLS, so that files and Python packages have the same step. */
function domainStep(collect: string): Step {
  return {
    title: "Add a domain",
    about: `Point its DNS record at your TLS proxy, and point the proxy at the collector (${collect}).`,
    form: "domain",
  };
}

function fileSteps({ collect, domain = "get.example.org" }: About): Step[] {
  return [
    domainStep(collect),
    {
      title: "Add a route to your files",
      about:
        "For example, the path /{version}/{+file} with the destination https://files.example.org/{version}/{+file}.",
      form: "route",
    },
    {
      title: "Download a file",
      about:
        "Use a path that matches your route. This request goes directly to the collector, so it works before DNS and TLS are set up.",
      text: `curl -sSi "${collect}/1.0.0/tool.tgz" -H 'Host: ${domain}'`,
    },
  ];
}

function dockerSteps({ collect, name, publicUrl = `https://cr.example.org/${name}` }: About): Step[] {
  return [
    {
      title: "Point a host name at the collector",
      about:
        "Docker requires TLS: point the DNS record at your TLS proxy, and point the proxy at the " +
        `collector (${collect}). Then save the URL that users pull from.`,
      form: "public-url",
    },
    {
      title: "Pull the image",
      about: "Each pull through this URL is counted.",
      text: `docker pull ${publicUrl.replace(/^https?:\/\//, "")}:latest`,
    },
  ];
}

function pythonSteps({ collect, name, domain = "pkgs.example.org" }: About): Step[] {
  return [
    domainStep(collect),
    {
      title: "Install from your index",
      text: `pip install --index-url https://${domain}/simple/ ${name}`,
    },
  ];
}

const REPORT = "report-install.mjs";

function npmSteps({ collect, name }: About): Step[] {
  const report = JSON.stringify({
    dependencyInfo: { parent: { name, version: "1.0.0" } },
    rawPlatform: "linux",
  });
  return [
    {
      title: `Add ${REPORT} to your package`,
      about:
        "npm does not provide access logs, so a small script in your package reports each install. npm 12 and pnpm block install scripts by default, so only users who allow yours are counted. The registry counts include all downloads.",
      text: readGuide(guideFile(REPORT) ?? "").replace("https://get.you.example", collect),
    },
    {
      title: "Run it after each install",
      about: `Add this to package.json. If package.json has a "files" list, add ${REPORT} to it.`,
      text: `"scripts": { "postinstall": "node ${REPORT}" }`,
    },
    {
      title: "Send a test report",
      text: `curl -sS --fail-with-body "${collect}/package-event/install" \\
  -H 'Content-Type: application/json' -d '${report.replaceAll("'", String.raw`'\''`)}'`,
    },
  ];
}

function pixelSteps({ collect, id }: About): Step[] {
  return [
    {
      title: "Add the image to a page",
      text: `<img src="${collect}/a.png?x-pxid=${id}" alt="" referrerpolicy="no-referrer-when-downgrade">`,
    },
    { title: "Or add it to a readme", text: `![](${collect}/a.png?x-pxid=${id}&page=readme)` },
  ];
}

interface AccessLogInto {
  /** URL without a slash at its end. */
  api: string;
  owner: string;
  id: string;
}

/** The command that imports an access log of a web server, for a checkout of this service. */
export function accessLogLine({ api, owner, id }: AccessLogInto): string {
  return [
    "npx maintainer-toolchain import access.log --format combined",
    `  --to ${owner}/${id} --url '${api}' --token "${TOKEN}"`,
  ].join(" \\\n");
}
