import type { PackageV1 } from "../../../schemas/contracts/package.js";
import type { PixelRecord } from "../../../schemas/contracts/pixel.js";
import type { SourceRecord } from "../../../schemas/contracts/source.js";
import { Problem } from "../../../schemas/problem.js";
import { packageFor, parseRegistryUrl } from "../../features/sources/parse-registry-url.js";
import { path } from "../../web/address.js";
import { type Visit, mayManage, page, useVisit } from "../../web/page.js";
import { Button, Field, Form } from "../../web/parts/form.js";
import { PageHead, Panel } from "../../web/parts/panel.js";
import { type Form as Sent, NOTHING_SAVED, faultsAt } from "../../web/read-form.js";
import { packagesOf } from "../../web/artifacts-of.js";
import { ImageFields, IndexField } from "../settings/upstream-fields.js";
import { type Case, CaseList, caseNamed } from "./cases.js";

export const newPage = page<{ chosen: Case | undefined }>({
  path: "/o/:owner/new",
  section: "overview",
  load({ query, owner }) {
    if (!mayManage(owner)) throw new Problem("not-found", "Only admins and owners can create packages.");
    return { chosen: caseNamed(query.get("case")) };
  },
  title: ({ chosen }) => titleFor(chosen),
  render: ({ chosen }) => (chosen ? <NewForm chosen={chosen} /> : <Choice />),
  submit: (visit, form) => (form.action === "page" ? createFromPage(visit, form) : create(visit, form)),
});

function Choice() {
  return (
    <>
      <PageHead title="What do you want to count?" guide="cases" />
      <CaseList />
    </>
  );
}

function titleFor(chosen: Case | undefined): string {
  return chosen !== undefined && chosen.type === undefined ? "New pixel" : "New package";
}

function NewForm({ chosen }: { chosen: Case }) {
  const { href, owner } = useVisit();
  return (
    <>
      <PageHead
        title={titleFor(chosen)}
        about={<a href={href(path`/o/${owner.name}/new`)}>Choose another option</a>}
      />
      <div class="narrow">
        <Panel title={chosen.title}>
          <p class="soft">{chosen.about}</p>
          <Form action="create">
            <input type="hidden" name="case" value={chosen.name} />
            <Field name="name" label="Name" required hint={NAME_HINTS[chosen.name]} />
            {chosen.type && <Field name="shortDescription" label="Description" hint="Optional." />}
            {chosen.type === "docker" && <ImageFields />}
            {chosen.type === "pypi" && <IndexField value="https://pypi.org/simple/" />}
            <Button>{chosen.type ? "Create package" : "Create pixel"}</Button>
          </Form>
        </Panel>
      </div>
    </>
  );
}

const NAME_HINTS: Readonly<Record<string, string>> = {
  npm: "The package's name on npm, for example @acme/web.",
  python: "The package's name on PyPI, for example acme-tools.",
  docker: "For example, web.",
  pixel: "The page or site to count, for example docs.",
};

async function create(visit: Visit, form: Sent): Promise<{ to: string }> {
  const { api, owner, href } = visit;
  const chosen = caseNamed(form.text("case"));
  if (chosen?.type === undefined) {
    const body = { name: form.text("name") };
    const made = await api<PixelRecord>({ method: "POST", path: path`/v2/pixels/${owner.name}`, body });
    return { to: href(path`/o/${owner.name}/pixels/${made.id}`, { notice: "created" }) };
  }
  const body = {
    name: form.text("name"),
    shortDescription: form.text("shortDescription"),
    libraryType: chosen.type,
    backendUrl: form.optional("backendUrl"),
    publicUrl: form.optional("publicUrl"),
    repositoryURL: form.optional("repositoryURL"),
  };
  const made = await createPackage(visit, body);
  // A user with a file needs no lines to copy.
  if (chosen.name === "logs")
    return { to: href(path`/o/${owner.name}/imports/new`, { package: made.uuid, notice: "created" }) };
  const to = path`/o/${owner.name}/packages/${made.uuid}`;
  return { to: href(to, { case: chosen.name, notice: "created" }) };
}

function createPackage({ api, owner }: Visit, body: object): Promise<PackageV1> {
  const to = owner.kind === "user" ? "/v1/packages" : path`/v1/organizations/${owner.name}/packages`;
  return api<PackageV1>({ method: "POST", path: to, body });
}

/** A package and its source in one go. A package of that name is taken as it is. */
async function createFromPage(visit: Visit, form: Sent): Promise<{ to: string }> {
  const { api, owner, href } = visit;
  const found = parseRegistryUrl(form.text("page"));
  if (found === undefined)
    throw new Problem("invalid-body", NOTHING_SAVED, {
      errors: [{ path: "/page", message: "must be the URL of a package on one of these registries" }],
    });
  const wanted = packageFor(found);
  const known = (await packagesOf(visit)).find(
    ({ name, libraryType = "other" }) => name === wanted.name && libraryType === wanted.libraryType,
  );
  const sources = path`/v2/${owner.name}/sources`;
  // First the source: a name that the registry does not know leaves no package behind.
  const made = await faultsAt(
    { "unknown-name": "page", "already-exists": "page", "too-many-sources": "page" },
    api<SourceRecord>({ method: "POST", path: sources, body: { ...found, package: known?.uuid } }),
  );
  const uuid = known?.uuid ?? (await createPackage(visit, { ...wanted, shortDescription: "" })).uuid;
  if (known === undefined)
    await api({ method: "PUT", path: sources + path`/${made.id}`, body: { package: uuid } });
  return { to: href(path`/o/${owner.name}/packages/${uuid}`, { notice: "from-page" }) };
}
