import { Problem } from "../../schemas/problem.js";
import type { ImportFormat } from "../../schemas/records/import-format.js";

/** The body is in another format than it claims: the import never began. */
export class WrongFormat extends Problem {
  constructor(format: ImportFormat, sentence: string) {
    super(format === "ndjson" ? "not-ndjson" : "invalid-body", sentence);
  }
}
