import { path } from "../../address.js";
import type { Visit } from "../../page.js";
import type { Beginning, Case } from "./cases.js";

export interface Step {
  title: string;
  about?: string;
  text?: string;
  /** Leads to the package's settings, whose form does this. */
  isForm?: true;
}

/** The steps to the first event, in order. */
export function stepsFor(chosen: Case, subject: Beginning, { ctx, owner }: Visit): Step[] {
  const { publicBase, collectBase } = ctx.state;
  const id = subject.kind === "pixel" ? subject.found.id : subject.found.uuid;
  const about = { api: publicBase, collect: collectBase, owner: owner.name, id, name: subject.found.name };
  return (STEPS[chosen.name] ?? logSteps)(about);
}

interface About {
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

const AUTHORIZED = `-H "Authorization: Bearer $TOKEN"`;

function logSteps({ api, owner, id }: About): Step[] {
  const importPath = path`/v2/packages/${owner}/${id}/import`;
  return [
    {
      title: "Write one line of JSON for each download",
      about:
        "Only $time is needed. A later line with the same $unique_id takes the place of the earlier one.",
      text: `cat > events.ndjson <<'END'
{"$time": "${new Date().toISOString().slice(0, 10)}T08:00Z", "$unique_id": "1", "$remote_address": "141.113.0.20", "$user_agent": "curl/8.5.0", "$version": "1.0.0"}
END`,
    },
    {
      title: "Send the file",
      about: "Add ?dryRun=true to see what would be refused, without importing anything.",
      text: `curl -sS --fail-with-body -X POST -T events.ndjson "${api}${importPath}" \\
  ${AUTHORIZED} -H 'Content-Type: application/ndjson'`,
    },
    {
      title: "Or send an access log of nginx or Apache as it is",
      about:
        "In a checkout of this service. Every GET that was answered with a file counts; --help says how to choose.",
      text: accessLogLine({ api, owner, id, token: "TOKEN" }),
    },
  ];
}

function fileSteps({ collect }: About): Step[] {
  return [
    {
      title: "Give the package a domain of yours",
      about: "Let its DNS name lead to live collection, through a proxy with TLS.",
      isForm: true,
    },
    {
      title: "Say where the files are",
      about:
        "A route such as /{version}/{+file}, which leads to https://files.example.org/{version}/{+file}.",
      isForm: true,
    },
    {
      title: "Download a file",
      text: `curl -sSi "${collect}/1.0.0/tool.tgz" -H 'Host: get.example.org'`,
    },
  ];
}

function dockerSteps({ collect }: About): Step[] {
  return [
    {
      title: "Lead a host name to live collection",
      about: `It answers at ${collect}. docker wants TLS, so a proxy stands in front. Type the address that people pull from.`,
      isForm: true,
    },
    { title: "Pull through it", about: "docker pull with that address counts from the first time." },
  ];
}

function pythonSteps({ name }: About): Step[] {
  return [
    {
      title: "Give the package a domain of yours",
      about: "Let its DNS name lead to live collection, through a proxy with TLS.",
      isForm: true,
    },
    {
      title: "Install from it",
      text: `pip install --index-url https://pkgs.example.org/simple/ ${name}`,
    },
  ];
}

function npmSteps({ collect, name }: About): Step[] {
  const report = JSON.stringify({
    dependencyInfo: { parent: { name, version: "1.0.0" } },
    rawPlatform: "linux",
  });
  return [
    {
      title: "Let an install script report",
      about: "The registry of npm serves your files, so the package says itself that it was installed.",
      text: `curl -sS --fail-with-body "${collect}/package-event/install" \\
  -H 'Content-Type: application/json' -d '${report.replaceAll("'", String.raw`'\''`)}'`,
    },
  ];
}

function pixelSteps({ collect, id }: About): Step[] {
  return [
    {
      title: "Put the image into a page",
      text: `<img src="${collect}/a.png?x-pxid=${id}" alt="" referrerpolicy="no-referrer-when-downgrade">`,
    },
    { title: "Or into a readme", text: `![](${collect}/a.png?x-pxid=${id}&page=readme)` },
  ];
}

interface AccessLogInto {
  /** URL without a slash at its end. */
  api: string;
  owner: string;
  id: string;
  /** The variable of the shell that has the token. */
  token: string;
}

/** The command that imports an access log of a web server, for a checkout of this service. */
export function accessLogLine({ api, owner, id, token }: AccessLogInto): string {
  return [
    "npx maintainer-toolchain import access.log --format combined",
    `  --to ${owner}/${id} --url '${api}' --token "$${token}"`,
  ].join(" \\\n");
}
