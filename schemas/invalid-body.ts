import { Problem, type FieldFault } from "./problem.js";

export function invalidBody(faults: readonly FieldFault[]): Problem {
  const errors = faults
    .slice(0, FAULTS_LISTED_MAX)
    .map(({ path, message }) => ({ path: path.slice(0, PATH_LENGTH_MAX), message }));
  const sentences = errors
    .slice(0, 3)
    .map(({ path, message }) => `${path.slice(1) || "the body"} ${message}`);
  const more = faults.length > 3 ? `; and ${faults.length - 3} more` : "";
  return new Problem("invalid-body", `The body is invalid: ${sentences.join("; ")}${more}.`, {
    errors,
  });
}

export const FAULTS_LISTED_MAX = 100;
/** A path ends in a name that was sent. */
const PATH_LENGTH_MAX = 200;
