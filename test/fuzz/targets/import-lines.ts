import fc from "fast-check";
import { makePackage, makePixel } from "../../support/imports/make-artifacts.js";
import type { KnownArtifact } from "../../support/imports/recount-line.js";
import { assertExportsAgree, attemptImport } from "../attempt-import.js";
import type { FuzzTarget, FuzzOwner } from "../fuzz-world.js";
import { importBody, type ImportBody, importLine } from "./import-body.js";

interface Input extends ImportBody {
  /** Into one artifact, or into those that the lines name. */
  into: "package" | "pixel" | "any";
}

/** Bodies of imports: every line is imported or refused with a reason, a dry run says so before, and exports agree. */
export function importLines({ linesMax }: { linesMax: number }): FuzzTarget<Input> {
  return {
    name: "import-lines",
    runs: 4,
    async open(world, owner) {
      const artifacts = await makeArtifacts(owner);
      const into = fc.constantFrom<Input["into"]>("package", "pixel", "any", "any");
      const body = importBody(importLine(artifacts), { linesMax });
      return {
        inputs: fc.tuple(body, into).map(([sent, path]) => ({ ...sent, into: path })),
        attempt: (input) =>
          attemptImport(world, owner, { ...input, path: pathOf(owner, artifacts, input.into) }),
        close: () => assertExportsAgree(owner, artifacts),
      };
    },
  };
}

async function makeArtifacts({ api, name: organization }: FuzzOwner): Promise<KnownArtifact[]> {
  const types = ["other", "docker", "npm"] as const;
  const packages = types.map((libraryType) =>
    makePackage(api, { organization, name: `${organization}-${libraryType}`, libraryType }),
  );
  return [...(await Promise.all(packages)), await makePixel(api, { owner: organization, name: "pixel" })];
}

function pathOf({ name }: FuzzOwner, artifacts: readonly KnownArtifact[], into: Input["into"]): string {
  const first = artifacts.find(({ kind }) => kind === into);
  return first === undefined ? `/v2/${name}/import` : `/v2/${first.kind}s/${name}/${first.id}/import`;
}
