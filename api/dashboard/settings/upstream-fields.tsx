import { Field } from "../../web/parts/form.js";

interface ImageFieldsProps {
  backendUrl?: string | undefined;
  publicUrl?: string | undefined;
}

/** Where an image is stored, and where users pull it from. */
export function ImageFields({ backendUrl, publicUrl }: ImageFieldsProps) {
  return (
    <>
      <Field
        name="backendUrl"
        label="Image URL in your registry"
        type="url"
        required
        placeholder="https://registry.example.org/acme/web"
        value={backendUrl}
      />
      <PublicUrlField value={publicUrl} />
    </>
  );
}

export function PublicUrlField({ value }: { value: string | undefined }) {
  return (
    <Field
      name="publicUrl"
      label="Public image URL"
      type="url"
      placeholder="https://cr.example.org/acme/web"
      value={value}
      hint="The same path on a host name that points to the collector. You can add this URL later."
    />
  );
}

/** Where the files of a Python package come from. */
export function IndexField({ value }: { value: string | undefined }) {
  return <Field name="repositoryURL" label="Upstream index" type="url" value={value} />;
}
