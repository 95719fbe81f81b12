import { isUuid } from "../../schemas/formats.js";
import type { PixelAction } from "../access/resources.js";
import type { Account } from "../access/caller.js";
import { readPixel, readPixelsNamed, type PixelRow } from "./pixels.js";
import type { Postgres } from "../postgres/query.js";
import { artifactNamed } from "../access/artifact-named.js";
import { admit, notFound, sameName } from "../access/authorise.js";

interface AskedPixel {
  owner: string;
  /** Id, or name among the owner's pixels. */
  idOrName: string;
  action: PixelAction;
}

/**
 * Finds the pixel of that owner and checks `action` on it. Throws `not-found`, `forbidden`, and `ambiguous-name` if
 * several of the owner's pixels have the name.
 */
export async function pixelFor(pg: Postgres, account: Account, asked: AskedPixel): Promise<PixelRow> {
  const { owner, idOrName, action } = asked;
  const [first, ...others] = await findPixels(pg, account.id, asked);
  if (first === undefined || !sameName(first.owner, owner)) throw notFound("pixel", idOrName);
  // One owner's pixels are all hidden from a caller, or none is: only then may the answer say that there are several.
  admit(account, action, { ...first, what: "pixel", name: idOrName });
  return others.length === 0 ? first : artifactNamed("pixel", idOrName, [first, ...others]);
}

async function findPixels(
  pg: Postgres,
  accountId: string,
  { owner, idOrName }: AskedPixel,
): Promise<PixelRow[]> {
  const byId = isUuid(idOrName) ? await readPixel(pg, { accountId, id: idOrName }) : undefined;
  return byId !== undefined && sameName(byId.owner, owner)
    ? [byId]
    : readPixelsNamed(pg, { accountId, owner, name: idOrName });
}
