import type { AnnotationRecord } from "../../../schemas/contracts/annotation.js";
import type { DateRange } from "../../../schemas/date-range.js";
import { Problem } from "../../../schemas/problem.js";
import { path } from "../../web/address.js";
import type { Note } from "../../web/charts/notes.js";
import type { Visit } from "../../web/page.js";

/** As many as a chart has room for. */
const NOTES_MAX = 200;

/** Of the package and of all; of an owner's overview all. None for a range that is refused, or for strangers. */
export async function loadNotes(
  { api, owner }: Pick<Visit, "api" | "owner">,
  { range, packageId }: { range: DateRange; packageId?: string },
): Promise<readonly Note[]> {
  const query = { ...range, package: packageId, per_page: NOTES_MAX };
  try {
    const at = path`/v2/${owner.name}/annotations`;
    return (await api<{ annotations: AnnotationRecord[] }>({ path: at, query })).annotations;
  } catch (error) {
    if (error instanceof Problem && error.status < 500) return [];
    throw error;
  }
}
