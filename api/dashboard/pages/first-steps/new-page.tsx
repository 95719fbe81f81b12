import type { PackageV1 } from "../../../../schemas/contracts/package.js";
import type { PixelRecord } from "../../../../schemas/contracts/pixel.js";
import { Problem } from "../../../../schemas/problem.js";
import { path } from "../../address.js";
import { type Visit, mayManage, page, useVisit } from "../../page.js";
import { Button, Field, Form } from "../../parts/form.js";
import { PageHead, Panel } from "../../parts/panel.js";
import type { Form as Sent } from "../../read-form.js";
import { type Case, CaseList, caseNamed } from "./cases.js";

export const newPage = page<{ chosen: Case | undefined }>({
  path: "/o/:owner/new",
  section: "overview",
  load({ query, owner }) {
    if (!mayManage(owner)) throw new Problem("not-found", "Only admins and owners make packages.");
    return { chosen: caseNamed(query.get("case")) };
  },
  title: () => "New package",
  render: ({ chosen }) => (chosen ? <NewForm chosen={chosen} /> : <Choice />),
  submit: create,
});

function Choice() {
  return (
    <>
      <PageHead title="What do you want to count?" />
      <CaseList />
    </>
  );
}

function NewForm({ chosen }: { chosen: Case }) {
  const { href, owner } = useVisit();
  return (
    <>
      <PageHead
        title={chosen.type ? "New package" : "New pixel"}
        about={<a href={href(path`/o/${owner.name}/new`)}>Choose another case</a>}
      />
      <div class="narrow">
        <Panel title={chosen.title}>
          <p class="soft">{chosen.about}</p>
          <Form action="create">
            <input type="hidden" name="case" value={chosen.name} />
            <Field name="name" label="Name" required hint={NAME_HINTS[chosen.name]} />
            {chosen.type && (
              <Field
                name="shortDescription"
                label="Description"
                hint="A line for your team. May stay empty."
              />
            )}
            {chosen.type === "docker" && <DockerFields />}
            {chosen.type === "pypi" && (
              <Field
                name="repositoryURL"
                label="Index with its files"
                type="url"
                value="https://pypi.org/simple/"
              />
            )}
            <Button>Create</Button>
          </Form>
        </Panel>
      </div>
    </>
  );
}

const NAME_HINTS: Readonly<Record<string, string>> = {
  npm: "As npm knows it: @acme/web",
  python: "As its index knows it: acme-tools",
  docker: "As you like: web",
  pixel: "The page or site that it counts: docs",
};

function DockerFields() {
  return (
    <>
      <Field
        name="backendUrl"
        label="Image in your registry"
        type="url"
        required
        placeholder="https://registry.example.org/acme/web"
      />
      <Field
        name="publicUrl"
        label="Address that people pull from"
        type="url"
        placeholder="https://cr.example.org/acme/web"
        hint="A host name that leads to live collection, with the same path. May follow later."
      />
    </>
  );
}

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
  const made = await api<PackageV1>({
    method: "POST",
    path: owner.kind === "user" ? "/v1/packages" : path`/v1/organizations/${owner.name}/packages`,
    body,
  });
  // A user with a file needs no lines to copy.
  if (chosen.name === "logs")
    return { to: href(path`/o/${owner.name}/imports/new`, { package: made.uuid, notice: "created" }) };
  const to = path`/o/${owner.name}/packages/${made.uuid}`;
  return { to: href(to, { case: chosen.name, notice: "created" }) };
}
