import type { PackageV1 } from "../../schemas/contracts/package.js";
import { path } from "./address.js";
import { GUIDE, guideAddress, guideTitle } from "./guide-files.js";
import { ENTRIES } from "./layout.js";
import { nearNames, wantedAt } from "./near-names.js";
import { openVisit, ownerNamed } from "./open-visit.js";
import { type Visit, useVisit } from "./page.js";
import { SearchField } from "./parts/search-field.js";

/** What an address that leads nowhere may have meant. */
export interface Meant {
  wanted: string;
  near: Place[];
}

interface Place {
  name: string;
  kind: string;
  /** An address. */
  to: string;
}

/** Names only what the viewer may see: packages come from the list that the API answers to the viewer. */
export async function meantBy(visit: Visit): Promise<Meant> {
  const wanted = wantedAt(visit.ctx.path);
  if (wanted === "") return { wanted, near: [] };
  // A store may be away; the page is then shown without.
  const known = visit.ctx.path.startsWith("/docs")
    ? guidePlaces(visit)
    : await ownPlaces(visit).catch(() => []);
  const places = nearNames(wanted, known);
  return { wanted, near: [...new Map(places.map((each) => [each.to, each])).values()] };
}

async function ownPlaces(visit: Visit): Promise<Place[]> {
  if (visit.ctx.state.session === undefined) return [];
  if (visit.known.user === undefined) await openVisit(visit);
  const { user, href } = visit;
  const packages = await visit.api<PackageV1[]>({ path: "/v1/packages", query: { short: "true" } });
  const owners = [...user.organizations.map(({ name }) => name), user.username];
  const [, , named = ""] = visit.here.split("/");
  const asked = owners.find((name) => name.toLowerCase() === named.toLowerCase()) ?? owners[0] ?? "";
  return [
    ...packages.map(({ uuid, name, owner }) => ({
      name,
      kind: `Package in ${owner}`,
      to: href(path`/o/${owner}/packages/${uuid}`),
    })),
    ...owners.map((name) => ({ name, kind: "Organization", to: href(path`/o/${name}`) })),
    ...ENTRIES.filter(({ isFor }) => isFor(ownerNamed(asked, user))).map(({ label, end }) => ({
      name: label,
      kind: `Page in ${asked}`,
      to: href(path`/o/${asked}` + end),
    })),
  ];
}

function guidePlaces(visit: Visit): Place[] {
  const names = GUIDE.flatMap((part) => [...part.names]);
  const place = (name: (typeof names)[number]) => ({ kind: "Guide", to: guideAddress(visit, name) });
  return names.flatMap((name) => [
    { name, ...place(name) },
    { name: guideTitle(name), ...place(name) },
  ]);
}

/** Below the sentence of a page that is not there. */
export function Meanings({ wanted, near }: Meant) {
  const { known } = useVisit();
  return (
    <>
      {known.user && <SearchField label="Search for this page" text={wanted} />}
      {near.length > 0 && (
        <>
          <h2>Did you mean one of these?</h2>
          <ul class="near">
            {near.map(({ name, kind, to }) => (
              <li>
                <a href={to}>
                  <bdi>{name}</bdi>
                </a>{" "}
                <span class="soft">{kind}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}
