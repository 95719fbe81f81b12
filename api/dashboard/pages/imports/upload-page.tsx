import type { PackageV1 } from "../../../../schemas/contracts/package.js";
import type { PackageAccess } from "../../../../schemas/contracts/package-access.js";
import type { PixelRecord } from "../../../../schemas/contracts/pixel.js";
import { Problem } from "../../../../schemas/problem.js";
import { path } from "../../address.js";
import { type Visit, mayManage, page, useVisit } from "../../page.js";
import { CopyLine } from "../../parts/form.js";
import { PageHead, Panel } from "../../parts/panel.js";
import { packagesUnlessStranger, pixelsOf } from "../artifacts-of.js";
import { accessLogLine } from "../first-steps/steps.js";

interface Targets {
  packages: readonly PackageV1[];
  pixels: readonly PixelRecord[];
  /** Whether lines may go to any package and pixel of the owner. */
  isOwnerWide: boolean;
}

/** `script/upload.ts` checks a sample of the file, packs it and sends it. */
export const uploadPage = page<Targets>({
  path: "/o/:owner/imports/new",
  section: "imports",
  load: loadTargets,
  title: () => "Import a file",
  render: (targets) => <Upload {...targets} />,
  notices: { created: "The package is there. Now choose a file of its events." },
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
  if (own.length === 0) throw new Problem("forbidden", "Only owners and admins may import.");
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
      label: `${name} (${libraryType ?? "other"})`,
      path: path`/v2/packages/${owner.name}/${uuid}/import`,
      isChosen: query.get("package") === uuid || query.get("package") === name,
      id: uuid,
    })),
    ...pixels.map(({ id, name }) => ({
      label: `${name} (pixel)`,
      path: path`/v2/pixels/${owner.name}/${id}/import`,
      isChosen: query.get("pixel") === id,
    })),
    ...(isOwnerWide ? [{ label: ANY, path: path`/v2/${owner.name}/import`, isChosen: false }] : []),
  ];
}

const ANY = "What each line names in $package or $pixel";

function Upload(known: Targets) {
  const visit = useVisit();
  const { href, owner } = visit;
  const targets = targetsFor(known, visit);
  return (
    <>
      <PageHead
        title="Import a file"
        about="One event a line, each a JSON object with $time. Plain or packed with gzip, of any size up to 20 GB."
      >
        {known.isOwnerWide && (
          <a class="button" href={href(path`/o/${owner.name}/imports`)}>
            All imports
          </a>
        )}
      </PageHead>
      <div data-upload={href(path`/o/${owner.name}/imports`)} hidden class="grid">
        <Panel title="The file">
          <ChooseFile targets={targets} />
        </Panel>
        <Panel title="A first look">
          <p class="none" data-upload-report>
            Choose a file. Its first lines are checked before anything is imported.
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
    <form class="form">
      <div class="field">
        <label for="upload-target">Into</label>
        <select id="upload-target">
          {targets.map(({ label, path: below, isChosen }) => (
            <option value={href(`/api${below}`)} selected={isChosen}>
              {label}
            </option>
          ))}
        </select>
      </div>
      <label class="drop" data-upload-drop>
        <strong>Drop a file here</strong>
        <span class="soft">or choose one</span>
        <input type="file" id="upload-file" aria-label="File of events" />
      </label>
      <p data-upload-name class="soft" />
      <div class="row">
        <button type="submit" class="primary" data-upload-start disabled>
          Import
        </button>
        <button type="button" data-upload-stop hidden>
          Stop
        </button>
      </div>
      <progress data-upload-bar aria-label="Upload" max={1} value={0} hidden />
      <p data-upload-state role="status" />
    </form>
  );
}

function CommandLine({ targets }: { targets: readonly Target[] }) {
  const { ctx, owner, href } = useVisit();
  const { publicBase: api } = ctx.state;
  const [target] = [...targets.filter(({ isChosen }) => isChosen), ...targets];
  const line = [
    `gzip -c events.ndjson | curl -X POST -T - '${api}${target?.path ?? ""}'`,
    `  -H "Authorization: Bearer $MAINTAINER_TOKEN"`,
    `  -H 'Content-Type: application/ndjson' -H 'Content-Encoding: gzip'`,
  ].join(" \\\n");
  return (
    <Panel title="From the command line">
      <p class="soft">
        Into {target?.label ?? ""}. The token is on your <a href={href("/account")}>account page</a>.
      </p>
      <CopyLine label="The import by curl" text={line} />
      {target?.id !== undefined && (
        <>
          <p class="soft">An access log of nginx or Apache as it is, in a checkout of this service:</p>
          <CopyLine
            label="The import of an access log"
            text={accessLogLine({ api, owner: owner.name, id: target.id, token: "MAINTAINER_TOKEN" })}
          />
        </>
      )}
    </Panel>
  );
}
