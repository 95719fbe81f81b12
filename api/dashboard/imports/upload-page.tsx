import type { PackageV1 } from "../../../schemas/contracts/package.js";
import type { PackageAccess } from "../../../schemas/contracts/package-access.js";
import type { PixelRecord } from "../../../schemas/contracts/pixel.js";
import { Problem } from "../../../schemas/problem.js";
import { fileNameOf } from "../../../schemas/records/file-name.js";
import { IMPORT_FORMATS, type ImportFormat, isAccessLog } from "../../../schemas/records/import-format.js";
import type { EventImport } from "../../../schemas/records/import-store.js";
import { MIB } from "../../base/http/body-limits.js";
import { path } from "../../web/address.js";
import { type Submitted, type Visit, mayManage, page, useVisit } from "../../web/page.js";
import { CopyLine, Form } from "../../web/parts/form.js";
import { PageHead, Panel } from "../../web/parts/panel.js";
import type { Form as Sent } from "../../web/read-form.js";
import { TYPES, packagesUnlessStranger, pixelsOf } from "../../web/artifacts-of.js";
import { TOKEN, accessLogLine } from "../first-steps/steps.js";
import { TokenHint } from "../first-steps/token-hint.js";

interface Targets {
  packages: readonly PackageV1[];
  pixels: readonly PixelRecord[];
  /** Whether lines may go to any package and pixel of the owner. */
  isOwnerWide: boolean;
}

/** `script/upload.ts` checks a sample of the file, packs it and sends it. Without script the form takes 1 MiB. */
export const uploadPage = page<Targets>({
  path: "/o/:owner/imports/new",
  section: "imports",
  load: loadTargets,
  title: (_, { owner }) => `Import file · ${owner.name}`,
  render: (targets) => <Upload {...targets} />,
  forms: { bytesMax: MIB, hasFiles: true },
  submit: importFile,
  notices: { created: "Package created. Choose a file to import." },
});

/** Everything of the owner for its admins; for others the packages on which they have the level of admin. */
async function loadTargets(visit: Visit): Promise<Targets> {
  const packages = await packagesUnlessStranger(visit);
  if (mayManage(visit.owner)) return { packages, pixels: await pixelsOf(visit), isOwnerWide: true };
  const accesses = await Promise.all(
    packages.map(({ uuid }) =>
      visit.api<PackageAccess>({ path: path`/v2/packages/${visit.owner.name}/${uuid}/access` }),
    ),
  );
  const own = packages.filter((_, index) => accesses[index]?.may_import);
  if (own.length === 0) throw new Problem("forbidden", "Only admins and owners can import events.");
  return { packages: own, pixels: [], isOwnerWide: false };
}

interface Target {
  label: string;
  /** Below the API's root. */
  path: string;
  isChosen: boolean;
  /** The id of a package; absent for other targets. */
  id?: string;
}

function targetsFor(
  { packages, pixels, isOwnerWide }: Targets,
  { owner, query }: Pick<Visit, "owner" | "query">,
): Target[] {
  return [
    ...packages.map(({ uuid, name, libraryType }) => ({
      label: `${name} (${TYPES[libraryType ?? "other"]})`,
      path: path`/v2/packages/${owner.name}/${uuid}/import`,
      isChosen: query.get("package") === uuid || query.get("package") === name,
      id: uuid,
    })),
    ...pixels.map(({ id, name }) => ({
      label: `${name} (Pixel)`,
      path: path`/v2/pixels/${owner.name}/${id}/import`,
      isChosen: query.get("pixel") === id,
    })),
    ...(isOwnerWide ? [{ label: ANY, path: path`/v2/${owner.name}/import`, isChosen: false }] : []),
  ];
}

const ANY = "Package or pixel named in each line ($package, $pixel)";

async function importFile(visit: Visit, form: Sent): Promise<Submitted> {
  const { api, href, owner } = visit;
  const targets = targetsFor(await loadTargets(visit), visit);
  const into = targets.find(({ path: below }) => href(`/api${below}`) === form.text("into"));
  const file = form.file("file");
  if (into === undefined || file === undefined)
    throw new Problem("invalid-body", "Choose a file, and a package or pixel to import into.");
  const { name, bytes: body } = file;
  if (body.length === 0) throw new Problem("invalid-body", "The file is empty.");
  const query = { format: form.text("format"), path: form.optional("path"), name: fileNameOf(name) };
  const { id } = await api<EventImport>({ method: "POST", path: into.path, query, body });
  return { to: href(path`/o/${owner.name}/imports/${id}`) };
}

function Upload(known: Targets) {
  const visit = useVisit();
  const { href, owner } = visit;
  const targets = targetsFor(known, visit);
  return (
    <>
      <PageHead
        title="Import file"
        guide="importing"
        about="Import JSON lines, CSV, access logs or exports with one event per line. Files can be compressed with gzip and have up to 20 GiB."
      >
        {known.isOwnerWide && (
          <a class="button" href={href(path`/o/${owner.name}/imports`)}>
            All imports
          </a>
        )}
      </PageHead>
      <div data-upload={href(path`/o/${owner.name}/imports`)} class="grid">
        <Panel title="File">
          <ChooseFile targets={targets} />
        </Panel>
        <Panel title="Preview">
          <p class="none" data-upload-report>
            Choose a file. Before anything is imported, you'll see its first events and the lines that would
            be rejected.
            <noscript> Without JavaScript, files can have at most 1 MiB and there is no preview.</noscript>
          </p>
        </Panel>
      </div>
      <CommandLine targets={targets} />
    </>
  );
}

function ChooseFile({ targets }: { targets: readonly Target[] }) {
  const { href } = useVisit();
  return (
    <Form action="upload" enctype="multipart/form-data">
      <div class="field">
        <label for="upload-target">Package or pixel</label>
        <select id="upload-target" name="into" required>
          {targets.length > 1 && <option value="">Choose…</option>}
          {targets.map(({ label, path: below, isChosen, id }) => (
            <option value={href(`/api${below}`)} selected={isChosen} data-path={below} data-id={id}>
              {label}
            </option>
          ))}
        </select>
      </div>
      <label class="drop" data-upload-drop>
        <strong>Drop a file here</strong>
        <span class="soft">or choose a file</span>
        <input type="file" id="upload-file" name="file" aria-label="File" />
      </label>
      <p data-upload-name class="soft" />
      <div class="field">
        <label for="upload-format">Format</label>
        <select id="upload-format" name="format">
          {IMPORT_FORMATS.map((format) => (
            <option value={format} data-log={isAccessLog(format) ? "" : undefined}>
              {FORMAT_LABELS[format]}
            </option>
          ))}
        </select>
      </div>
      <div class="field" data-upload-path>
        <label for="upload-path">Download path</label>
        <input id="upload-path" name="path" maxLength={1024} placeholder="/releases/tool-{version}.tgz" />
        <p class="hint">Only matching paths count. Leave empty to count everything.</p>
      </div>
      <div class="row">
        <button type="submit" class="primary" data-upload-start>
          Import
        </button>
        <button type="button" data-upload-stop hidden>
          Stop
        </button>
      </div>
      <progress data-upload-bar aria-label="Upload" max={1} value={0} hidden />
      <p data-upload-state role="status" />
    </Form>
  );
}

const FORMAT_LABELS: Record<ImportFormat, string> = {
  ndjson: "JSON lines (NDJSON)",
  csv: "CSV with a $time column",
  combined: "nginx or Apache access log",
  caddy: "Caddy access log (JSON)",
  traefik: "Traefik access log (JSON)",
  cloudfront: "Amazon CloudFront access log",
  s3: "Amazon S3 access log",
  "docker-dvp": "Docker Hub insights (raw data)",
  "pypi-bigquery": "PyPI downloads (BigQuery)",
  "scarf-csv": "Scarf events export (CSV)",
};

/** Stands in the commands until a package is chosen. `script/upload.ts` puts the chosen target in its place. */
const PLACEHOLDER = "PACKAGE";

function CommandLine({ targets }: { targets: readonly Target[] }) {
  const { ctx, owner } = useVisit();
  const { publicBase: api } = ctx.state;
  const placeholder = { path: path`/v2/packages/${owner.name}/${PLACEHOLDER}/import`, id: PLACEHOLDER };
  const only = targets.length === 1 ? targets[0] : undefined;
  const target = targets.find(({ isChosen }) => isChosen) ?? only ?? placeholder;
  const id = target.id ?? PLACEHOLDER;
  const line = [
    `gzip -c events.ndjson | curl -X POST -T - '${api}${target.path}'`,
    `  -H "Authorization: Bearer ${TOKEN}"`,
    `  -H 'Content-Type: application/ndjson' -H 'Content-Encoding: gzip'`,
  ].join(" \\\n");
  return (
    <Panel title="From the command line">
      <div data-upload-commands data-path={target.path} data-id={id}>
        <TokenHint />
        <CopyLine label="Import with curl" text={line} />
        <div data-upload-log-command hidden={target.id === undefined}>
          <p class="soft">nginx or Apache access log:</p>
          <CopyLine label="Import an access log" text={accessLogLine({ api, owner: owner.name, id })} />
        </div>
      </div>
    </Panel>
  );
}
