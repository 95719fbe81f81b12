import { Command, Option } from "commander";
import { IMPORT_FORMATS, type ImportFormat, isAccessLog } from "../../schemas/records/import-format.js";
import { decodeRouteTemplate } from "../../schemas/routing/url-template.js";
import { importFiles } from "../import/import-files.js";
import { openProgressBar } from "../import/progress-bar.js";
import { stopSignal } from "../process/lifecycle.js";
import {
  SIGN_IN_HELP,
  type ServiceOptions,
  serviceOf,
  tokenOption,
  urlOption,
} from "../import/service-options.js";
import { StartFailure } from "../process/start-failure.js";

interface Options extends ServiceOptions {
  to: string;
  pixel?: string;
  format: ImportFormat;
  path?: string;
  again?: true;
  wait: boolean;
  dryRun?: true;
  rejected?: string;
}

/** Lines were refused, and the others are imported. */
const REFUSED_STATUS = 2;

/** `import`: sends files to a running service, here or elsewhere. */
export function importCommand(): Command {
  return new Command("import")
    .argument("<files...>", "files to import, plain or packed with gzip, zstd or brotli; - is standard input")
    .requiredOption("--to <owner[/package]>", "where the events belong; the package by name or id")
    .option("--pixel <id>", "the pixel of --to's owner that was viewed")
    .addOption(
      new Option("--format <format>", "what the files hold").choices(IMPORT_FORMATS).default("ndjson"),
    )
    .option("--path <pattern>", 'the downloads in an access log: "/tools/tool-{version}.tgz"')
    .addOption(urlOption())
    .addOption(tokenOption())
    .option("--dry-run", "say what would be imported and refused, and import nothing")
    .option("--rejected <file>", "add the refused lines to this file, as they were sent, without a header")
    .option("--again", "import a file also if it was imported in the last 24 hours")
    .option("--no-wait", "end as soon as everything is sent, before it is counted")
    .addHelpText("after", HELP)
    .action(runImport);
}

const HELP = `
Formats:
  ndjson      one JSON object a line; the keys are in deploy/docs/importing.md
  csv         a header whose names are the keys; a row is one line
  combined    access logs of nginx and Apache
  cloudfront  standard logs of Amazon CloudFront
  s3          server access logs of Amazon S3
  caddy       JSON access logs of Caddy
  traefik     JSON access logs of Traefik
  docker-dvp, pypi-bigquery, scarf-csv
              what others counted: see deploy/docs/importing.md

Exit status: 0 everything was imported, 2 lines were refused (all others are imported),
1 any other failure.

Refused rows of a table need its header above them before they are sent again.

A file that broke off is sent again whole, and counted once. Sent twice within 24 hours,
it is imported once, until --again. An access log may also grow and be sent again later:
lines that were sent before change nothing.
${SIGN_IN_HELP}
Examples:
  maintainer-toolchain import events.ndjson --to acme/web
  maintainer-toolchain import /var/log/nginx/access.log* --to acme/tool --format combined \\
    --path '/releases/tool-{version}.tar.gz'
  zcat *.gz | maintainer-toolchain import - --to acme --dry-run
`;

async function runImport(files: readonly string[], options: Options): Promise<void> {
  const { format, again = false, wait, dryRun = false, rejected } = options;
  const service = serviceOf(options);
  const stopped = new AbortController();
  void stopSignal().then((signal) => stopped.abort(new Interrupted(signal)));
  const outcome = await importFiles(service, files, {
    path: pathOf(options),
    format,
    pattern: patternOf(options),
    again,
    wait,
    dryRun,
    rejected,
    bar: openProgressBar(process.stderr),
    print: (line) => process.stdout.write(`${line}\n`),
    signal: stopped.signal,
  });
  if (outcome === "refused") process.exitCode = REFUSED_STATUS;
}

class Interrupted extends StartFailure {
  constructor(signal: string) {
    super(
      `Stopped by ${signal}. A file that was sent whole goes on being imported; one that broke off leaves nothing.`,
    );
  }
}

/** `/v2/packages/acme/web/import`. */
function pathOf({ to, pixel, format }: Options): string {
  const slash = to.indexOf("/");
  const owner = encodeURIComponent(slash < 0 ? to : to.slice(0, slash));
  const packageName = slash < 0 ? undefined : to.slice(slash + 1);
  if (owner === "" || packageName === "")
    throw new StartFailure(`--to ${to} must be an owner, or an owner and a package: acme/web.`);
  if (pixel !== undefined) {
    if (packageName !== undefined) throw new StartFailure("--pixel goes with an owner alone: --to acme.");
    return `/v2/pixels/${owner}/${encodeURIComponent(pixel)}/import`;
  }
  if (packageName !== undefined) return `/v2/packages/${owner}/${encodeURIComponent(packageName)}/import`;
  if (isAccessLog(format))
    throw new StartFailure(`A line of an access log names no package. Add it: --to ${to}/PACKAGE.`);
  return `/v2/${owner}/import`;
}

const ACCESS_LOGS = new Intl.ListFormat("en", { type: "disjunction" }).format(
  IMPORT_FORMATS.filter(isAccessLog),
);

function patternOf({ path, format }: Options): string | undefined {
  if (path === undefined) return undefined;
  if (!isAccessLog(format)) throw new StartFailure(`--path is for access logs: add --format ${ACCESS_LOGS}.`);
  const template = decodeRouteTemplate(path);
  if ("fault" in template) throw new StartFailure(`--path ${path} ${template.fault}.`);
  return path;
}
