import { Problem } from "../../schemas/problem.js";

/** The refusal of an export, with the command that grants it to the owner of that name. */
export function exportNotGranted(owner: string): Problem {
  return new Problem(
    "export-not-granted",
    `Data export is not granted to ${owner}. An operator of this service grants it with: ` +
      `maintainer-toolchain admin grant-export ${owner}`,
  );
}
