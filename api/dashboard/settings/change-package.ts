import { Problem } from "../../../schemas/problem.js";
import { path } from "../../web/address.js";
import type { Submitted, Visit } from "../../web/page.js";
import { faultsAt, type Form, UNKNOWN_FORM, requireTyped } from "../../web/read-form.js";
import type { PackagePublic } from "../../../schemas/contracts/package-access.js";
import type { PackageUpstream, PackageV1 } from "../../../schemas/contracts/package.js";
import { type Values, requireUnchanged } from "../../web/parts/unchanged.js";
import { packageOf, upstreamOf } from "../../web/artifacts-of.js";
import { changeEndsOfLife } from "./ends-of-life.js";

/** Takes the forms of a package's settings. The forms that remove something are named after it. */
export async function changePackage(visit: Visit, form: Form): Promise<Submitted> {
  const { api, owner, param, href } = visit;
  const at = path`/v1/packages/${param("package")}`;
  const to = (notice: string) => ({
    to: href(path`/o/${owner.name}/settings/packages/${param("package")}`, { notice }),
  });
  const [verb = "", id = ""] = form.action.split(" ");
  switch (verb) {
    case "change":
      return changeRecord(visit, form);
    case "delete":
      return deletePackage(visit, form);
    case "permission": {
      const body = { userQuery: form.text("userQuery"), permissionLevel: form.text("permissionLevel") };
      await faultsAt(
        { "unknown-user": "userQuery" },
        api({ method: "POST", path: `${at}/permissions`, body }),
      );
      return to("permission-set");
    }
    case "public": {
      const shown = path`/v2/packages/${owner.name}/${param("package")}/public`;
      const { public: kind, automated } = await api<PackagePublic>({ path: shown });
      requireUnchanged(form, { public: kind, automated });
      const body = { public: form.text("public"), automated: form.optional("automated") };
      await api({ method: "PUT", path: shown, body });
      return to("public-set");
    }
    case "end-of-life":
    case "remove-end-of-life":
      await changeEndsOfLife(visit, form);
      return to("end-of-life-set");
    case "add-route":
      await addRoute(visit, { at, form });
      return to("route-added");
    case "remove-route":
      await api({ method: "DELETE", path: at + path`/routes/${id}` });
      return to("route-removed");
    case "add-domain":
      await addDomain(visit, { at, form });
      return to("domain-added");
    case "verify-domain":
      await api({ method: "POST", path: at + path`/domains/${id}/verify` });
      return to("looked");
    case "verify-host":
      await api({
        method: "POST",
        path: path`/v2/packages/${owner.name}/${param("package")}/upstream/verify`,
      });
      return to("looked");
    case "remove-domain":
      await api({ method: "DELETE", path: at + path`/domains/${id}` });
      return to("domain-removed");
    default:
      throw new Problem("invalid-query", UNKNOWN_FORM);
  }
}

interface Adding {
  /** The API's path of the package. */
  at: string;
  form: Form;
}

export async function addRoute({ api }: Pick<Visit, "api">, { at, form }: Adding): Promise<void> {
  const body = { templatePath: form.text("templatePath"), outgoingUrl: form.text("outgoingUrl") };
  await faultsAt(
    { "route-conflicts": "templatePath", "too-many-routes": "templatePath" },
    api({ method: "POST", path: `${at}/routes`, body }),
  );
}

export async function addDomain({ api }: Pick<Visit, "api">, { at, form }: Adding): Promise<void> {
  await faultsAt(
    { "domain-is-already-in-use": "name" },
    api({ method: "POST", path: `${at}/domains`, body: { name: form.text("name") } }),
  );
}

/** Saves the public URL of an image, and its other fields as they are. */
export async function setPublicUrl(visit: Visit, form: Form): Promise<void> {
  const { uuid, values } = await readPackage(visit);
  await savePackage(visit, uuid, { ...values, publicUrl: form.optional("publicUrl") });
}

async function changeRecord(visit: Visit, form: Form): Promise<Submitted> {
  const { owner, href } = visit;
  const { uuid, values } = await readPackage(visit);
  requireUnchanged(form, values);
  const optional = ["longDescription", "website", "backendUrl", "publicUrl", "repositoryURL"];
  await savePackage(visit, uuid, {
    name: form.text("name"),
    shortDescription: form.text("shortDescription"),
    ...Object.fromEntries(optional.map((field) => [field, form.optional(field)])),
  });
  return { to: href(path`/o/${owner.name}/settings/packages/${uuid}`, { notice: "changed" }) };
}

async function readPackage(visit: Visit): Promise<{ uuid: string; values: Values }> {
  const record = await packageOf(visit);
  return {
    uuid: record.uuid,
    values: valuesOfPackage({ record, upstream: await upstreamOf(visit, record.uuid) }),
  };
}

/** Saves all fields: the API removes those that are left out. */
async function savePackage({ api }: Visit, uuid: string, body: Values): Promise<void> {
  await faultsAt(
    { "already-exists": "name", "domain-is-already-in-use": "publicUrl" },
    api({ method: "PUT", path: path`/v1/packages/${uuid}`, body }),
  );
}

interface PackageParts {
  record: PackageV1;
  upstream: PackageUpstream;
}

/** The fields of the form; a type lacks some of them. */
export function valuesOfPackage({ record, upstream }: PackageParts): Values {
  const { name, shortDescription, longDescription, website } = record;
  const { backend_url: backendUrl, public_url: publicUrl, repository_url: repositoryURL } = upstream;
  return { name, shortDescription, longDescription, website, backendUrl, publicUrl, repositoryURL };
}

async function deletePackage(visit: Visit, form: Form): Promise<Submitted> {
  const { api, owner, href } = visit;
  const { uuid, name } = await packageOf(visit);
  requireTyped(form, { field: "confirm", word: name });
  await api({ method: "DELETE", path: path`/v1/packages/${uuid}` });
  // Without a role, it may have been the only thing of the owner that the viewer saw.
  if (owner.role === "none") return { to: href("") };
  return { to: href(path`/o/${owner.name}/settings/packages`, { notice: "deleted" }) };
}
