import { Command, Option } from "commander";
import { IMPORT_FORMATS, type ImportFormat, isAccessLog } from "../../schemas/records/import-format.js";
import { decodeRouteTemplate } from "../../schemas/routing/url-template.js";
import { importFiles } from "../import/import-files.js";
import { openProgressBar } from "../import/progress-bar.js";
import { stopSignal } from "../process/lifecycle.js";
import { type ServiceOptions, addServiceOptions, serviceOf } from "../import/service-options.js";
import { type Target, nearTarget, parseTarget } from "../import/target.js";
import { StartFailure } from "../process/start-failure.js";

interface Options extends ServiceOptions {
  to: string;
  pixel?: string;
  format?: ImportFormat;
  path?: string;
  again?: true;
  wait: boolean;
  dryRun?: true;
  rejected?: string;
}

/** Lines were refused, and the others are imported. */
const REJECTED_STATUS = 2;

/** `import`: sends files to a running service, here or elsewhere. */
export function importCommand(): Command {
  const command = new Command("import")
    .argument(
      "<files...>",
      "files to import, plain or compressed with gzip, zstd or brotli; - reads standard input",
    )
    .requiredOption(
      "--to <owner[/package]>",
      "owner or package that the events belong to; a package can be given by name or id",
    )
    .option("--pixel <id>", "import page views of this pixel (--to names its owner)")
    .addOption(
      new Option("--format <format>", "format of the files (default: ndjson)").choices(IMPORT_FORMATS),
    )
    .option(
      "--path <pattern>",
      'paths of an access log that count as downloads, such as "/tools/tool-{version}.tgz"',
    )
    .option("--dry-run", "show what would be imported and rejected, without importing anything")
    .option(
      "--rejected <file>",
      "append rejected lines to this file, exactly as they were sent and without a header",
    )
    .option("--again", "import files even if they were imported in the last 24 hours")
    .option("--no-wait", "exit once everything is sent, without waiting until the lines are counted");
  return addServiceOptions(command, HELP).action(runImport);
}

const HELP = `
Formats:
  ndjson      one JSON object per line; the keys are in deploy/docs/reference/event-fields.md
  csv         a header with the keys, then one row per line
  combined    access logs of nginx and Apache
  cloudfront  standard logs of Amazon CloudFront
  s3          server access logs of Amazon S3
  caddy       JSON access logs of Caddy
  traefik     JSON access logs of Traefik
  docker-dvp, pypi-bigquery, scarf-csv
              exports of other services: see deploy/docs/reference/formats.md

Exit status:
  0  everything was imported
  2  some lines were rejected; all others were imported
  1  any other failure

Before you send rejected rows of a CSV file again, add the header of the file above them.

If an import is interrupted, send the file again: its events are counted once. A file that
was imported within the last 24 hours is skipped unless you add --again. You can send an
access log again after it has grown: only its new lines are counted.
A $unique_id identifies an event within its package. The same id in another package is another event.

Examples:
  maintainer-toolchain import events.ndjson --to acme/web
  maintainer-toolchain import /var/log/nginx/access.log* --to acme/tool --format combined \\
    --path '/releases/tool-{version}.tar.gz'
  zcat *.gz | maintainer-toolchain import - --to acme --dry-run
`;

async function runImport(files: readonly string[], options: Options): Promise<void> {
  const { again = false, wait, dryRun = false, rejected, json } = options;
  const format = options.format ?? "ndjson";
  const service = serviceOf(options);
  const target = parseTarget(options.to, "--to");
  const stopped = new AbortController();
  void stopSignal().then((signal) => stopped.abort(new Interrupted(signal)));
  const bar = openProgressBar(process.stderr);
  const sending = {
    path: pathOf(target, { ...options, format }),
    format,
    isFormatGiven: options.format !== undefined,
    pattern: patternOf({ ...options, format }),
    again,
    wait,
    dryRun,
    rejected,
    bar,
    print: (text: string, record?: object) => {
      if (!json) process.stdout.write(`${text}\n`);
      else if (record !== undefined) process.stdout.write(`${JSON.stringify(record)}\n`);
    },
    signal: stopped.signal,
  };
  try {
    const outcome = await nearTarget(service, target, () => importFiles(service, files, sending));
    if (outcome === "rejected") process.exitCode = REJECTED_STATUS;
  } finally {
    // What is said next begins its own line, also after the ^C of a terminal.
    bar.clear();
  }
}

class Interrupted extends StartFailure {
  constructor(signal: string) {
    super(
      `Stopped by ${signal}. Files that were sent completely are still imported; nothing is imported ` +
        "from the interrupted file.",
    );
  }
}

type Formatted = Options & { format: ImportFormat };

/** `/v2/packages/acme/web/import`. */
function pathOf({ owner, packageName }: Target, { pixel, format }: Formatted): string {
  const whose = encodeURIComponent(owner);
  if (pixel !== undefined) {
    if (packageName !== undefined)
      throw new StartFailure("--pixel requires an owner without a package: --to acme.");
    return `/v2/pixels/${whose}/${encodeURIComponent(pixel)}/import`;
  }
  if (packageName !== undefined) return `/v2/packages/${whose}/${encodeURIComponent(packageName)}/import`;
  if (isAccessLog(format))
    throw new StartFailure(`Access logs do not name a package. Add it: --to ${owner}/PACKAGE.`);
  return `/v2/${whose}/import`;
}

const ACCESS_LOGS = new Intl.ListFormat("en", { type: "disjunction" }).format(
  IMPORT_FORMATS.filter(isAccessLog),
);

function patternOf({ path, format }: Formatted): string | undefined {
  if (path === undefined) return undefined;
  if (!isAccessLog(format))
    throw new StartFailure(`--path can only be used with access logs. Add --format ${ACCESS_LOGS}.`);
  const template = decodeRouteTemplate(path);
  if ("fault" in template) throw new StartFailure(`--path ${path} ${template.fault}.`);
  return path;
}
