import { path } from "../../address.js";
import type { Submitted, Visit } from "../../page.js";
import { faultsAt, requireTyped } from "../../parts/faults.js";
import type { Form } from "../../read-form.js";
import { packageOf } from "../package/package-of.js";

/** Saves all fields: the API removes those that are left out. */
export async function changeRecord(visit: Visit, form: Form): Promise<Submitted> {
  const { api, owner, href } = visit;
  const { uuid } = await packageOf(visit);
  const optional = ["longDescription", "website", "backendUrl", "publicUrl", "repositoryURL"];
  const body = {
    name: form.text("name"),
    shortDescription: form.text("shortDescription"),
    ...Object.fromEntries(optional.map((field) => [field, form.optional(field)])),
  };
  await faultsAt(
    { "already-exists": "name", "domain-is-already-in-use": "publicUrl" },
    api({ method: "PUT", path: path`/v1/packages/${uuid}`, body }),
  );
  return { to: href(path`/o/${owner.name}/settings/packages/${uuid}`, { notice: "changed" }) };
}

export async function deletePackage(visit: Visit, form: Form): Promise<Submitted> {
  const { api, owner, href } = visit;
  const { uuid, name } = await packageOf(visit);
  requireTyped(form, { field: "confirm", word: name });
  await api({ method: "DELETE", path: path`/v1/packages/${uuid}` });
  // Without a role, it may have been the only thing of the owner that the viewer saw.
  if (owner.role === "none") return { to: href("") };
  return { to: href(path`/o/${owner.name}/settings/packages`, { notice: "deleted" }) };
}
