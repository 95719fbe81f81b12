import { path } from "../../web/address.js";
import type { Submitted, Visit } from "../../web/page.js";
import { Button, Form } from "../../web/parts/form.js";
import { type Form as Sent, UNKNOWN_FORM } from "../../web/read-form.js";
import { Problem } from "../../../schemas/problem.js";
import { linkWith } from "../../web/statistics/view-state.js";
import { packageOf } from "../../web/artifacts-of.js";
import { addDomain, addRoute, setPublicUrl } from "../settings/change-package.js";
import { DomainForm, RouteForm } from "../settings/domains.js";
import { PublicUrlField } from "../settings/upstream-fields.js";

export type StepFormKind = "domain" | "route" | "public-url";

/** The form of a step, on the page of the package itself: it returns there. */
export function StepForm({ kind, publicUrl }: { kind: StepFormKind; publicUrl: string | undefined }) {
  if (kind === "domain") return <DomainForm />;
  if (kind === "route") return <RouteForm />;
  return (
    <Form action="set-public-url">
      <PublicUrlField value={publicUrl} />
      <Button>Save URL</Button>
    </Form>
  );
}

export const STEP_NOTICES = {
  "domain-added": "Domain added.",
  "route-added": "Route added.",
  "public-url-set": "Public image URL saved.",
};

/** Takes the forms of `StepForm`. */
export async function takeStep(visit: Visit, form: Sent): Promise<Submitted> {
  const to = (notice: keyof typeof STEP_NOTICES) => ({ to: linkWith(visit, { notice }) });
  const { uuid } = await packageOf(visit);
  const at = path`/v1/packages/${uuid}`;
  switch (form.action) {
    case "add-domain":
      await addDomain(visit, { at, form });
      return to("domain-added");
    case "add-route":
      await addRoute(visit, { at, form });
      return to("route-added");
    case "set-public-url":
      await setPublicUrl(visit, form);
      return to("public-url-set");
    default:
      throw new Problem("invalid-query", UNKNOWN_FORM);
  }
}
