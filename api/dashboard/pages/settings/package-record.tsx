import type { PackageUpstream, PackageV1 } from "../../../../schemas/contracts/package.js";
import { Button, ConfirmButton } from "../../parts/button.js";
import { Field, Form } from "../../parts/form.js";
import { Panel } from "../../parts/panel.js";

interface RecordProps {
  record: PackageV1;
  upstream: PackageUpstream;
}

/** The form for a package's name, descriptions and addresses. Its type stays. */
export function PackageRecord({ record, upstream }: RecordProps) {
  const { name, shortDescription, longDescription, website, libraryType } = record;
  return (
    <Panel title="Package">
      <Form action="change">
        <Field
          name="name"
          label="Name"
          value={name}
          required
          hint={
            libraryType === "npm"
              ? "As npm knows it. Installations report it; under another name they are not counted here."
              : "Another name changes the addresses that have it. Its id and its numbers stay."
          }
        />
        <Field name="shortDescription" label="Description" value={shortDescription} />
        <Field name="longDescription" label="Longer description" value={longDescription} rows={4} />
        <Field name="website" label="Website" value={website} />
        {libraryType === "docker" && <ImageFields {...upstream} />}
        {libraryType === "pypi" && (
          <Field
            name="repositoryURL"
            label="Index with its files"
            type="url"
            value={upstream.repository_url}
          />
        )}
        <Button>Save</Button>
      </Form>
    </Panel>
  );
}

function ImageFields({ backend_url: backend, public_url: front }: PackageUpstream) {
  return (
    <>
      <Field name="backendUrl" label="Image in your registry" type="url" required value={backend} />
      <Field
        name="publicUrl"
        label="Address that people pull from"
        type="url"
        value={front}
        hint="A host name that leads to live collection, with the same path."
      />
    </>
  );
}

/** Deletes the package once its name is typed. */
export function PackageRemoval({ name }: { name: string }) {
  return (
    <ConfirmButton
      action="delete"
      label="Delete this package"
      question="Its events leave every number and export at once and are erased soon after. Its routes, domains and permissions go with it; its pixels stay. This cannot be undone."
    >
      <Field name="confirm" label={`Type ${name} to confirm`} autocomplete="off" required />
    </ConfirmButton>
  );
}
