import type { CompanyRecord } from "../../schemas/contracts/funnel.js";
import type { PackageV1 } from "../../schemas/contracts/package.js";
import type { EventImport } from "../../schemas/records/import-store.js";
import { path } from "../web/address.js";
import { ENTRIES } from "../web/layout.js";
import { ownerNamed } from "../web/open-visit.js";
import { type Visit, type VisitedOwner, mayManage, page, useVisit } from "../web/page.js";
import { PageHead, Panel } from "../web/parts/panel.js";
import { Table } from "../web/parts/table.js";
import { TYPES, ifAllowed, pixelsOf } from "../web/artifacts-of.js";
import { targetName } from "./imports/import-labels.js";

interface Hit {
  kind: string;
  name: string;
  owner: string;
  /** Below `/dashboard`. */
  to: string;
}

const OWNERS_MAX = 10;
const HITS_MAX = 50;
const COMPANIES_MAX = 10;
const IMPORTS_MAX = 100;

/** Packages, pixels, companies, imports and pages of the viewer's owners whose name has the text. */
export const searchPage = page<Hit[]>({
  path: "/search",
  async load(visit) {
    const text = textOf(visit.query);
    if (text === "") return [];
    // Their own, those of their organizations, and those on which they have a level.
    const packages = await visit.api<PackageV1[]>({ path: "/v1/packages", query: { short: "true" } });
    const owners = ownersOf(visit, packages).slice(0, OWNERS_MAX);
    const found = owners.map((owner) => hitsOf(visit, { owner, packages, text }));
    return (await Promise.all(found)).flat().slice(0, HITS_MAX);
  },
  title: (_, { query }) => (textOf(query) === "" ? "Search" : `${textOf(query)} · Search`),
  render: (hits) => <Hits hits={hits} />,
});

/** Those whom the viewer belongs to come first. */
function ownersOf({ user }: Visit, packages: readonly PackageV1[]): VisitedOwner[] {
  const own = [...user.organizations.map(({ name }) => name), user.username];
  const names = new Set([...own, ...packages.map(({ owner }) => owner)]);
  return [...names].map((name) => ownerNamed(name, user));
}

function textOf(query: URLSearchParams): string {
  return (query.get("q") ?? "").trim();
}

interface SearchedOwner {
  owner: VisitedOwner;
  /** Of all owners. */
  packages: readonly PackageV1[];
  text: string;
}

async function hitsOf({ api }: Visit, { owner, packages, text }: SearchedOwner): Promise<Hit[]> {
  const asking = { api, owner };
  const [pixels, companies, imports] = await Promise.all([
    ifAllowed(pixelsOf(asking)),
    ifAllowed(
      api<{ companies: CompanyRecord[] }>({
        path: path`/v2/${owner.name}/companies`,
        query: { search: text, per_page: COMPANIES_MAX },
      }),
    ),
    mayManage(owner) ? importsOf(asking) : [],
  ]);
  const hit = (kind: string, name: string, to: string) => ({ kind, name, to, owner: owner.name });
  const at = path`/o/${owner.name}`;
  const all = [
    ...packages
      .filter((each) => each.owner === owner.name)
      .map(({ uuid, name, libraryType }) =>
        hit(TYPES[libraryType ?? "other"], name, at + path`/packages/${uuid}`),
      ),
    ...(pixels ?? []).map(({ id, name }) => hit("Pixel", name, at + path`/pixels/${id}`)),
    ...imports.map((record) =>
      hit("Import", `${targetName(record)} ${record.id}`, at + path`/imports/${record.id}`),
    ),
    ...ENTRIES.filter(({ isFor }) => isFor(owner)).map(({ label, end }) => hit("Page", label, at + end)),
  ].filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()));
  const named = (companies?.companies ?? []).map(({ name, domain }) =>
    hit("Company", name || domain, at + path`/companies/${domain}`),
  );
  return [...all, ...named];
}

async function importsOf({ api, owner }: Pick<Visit, "api" | "owner">): Promise<EventImport[]> {
  const query = { per_page: IMPORTS_MAX };
  return (await api<{ event_imports: EventImport[] }>({ path: path`/v2/imports/${owner.name}`, query }))
    .event_imports;
}

function Hits({ hits }: { hits: readonly Hit[] }) {
  const { href, query } = useVisit();
  return (
    <>
      <PageHead
        title="Search"
        about={`Search packages, pixels, companies, imports and pages in up to ${OWNERS_MAX} organizations.`}
      />
      {textOf(query) !== "" && (
        <Panel title="Results">
          <Table
            caption="Results"
            columns={["Name", "Type", { name: "Organization", isMinor: true }]}
            rows={hits.map(({ kind, name, owner, to }) => [
              <a href={href(to)}>
                <bdi>{name}</bdi>
              </a>,
              kind,
              owner,
            ])}
            empty={`No results for “${textOf(query)}”.`}
          />
        </Panel>
      )}
    </>
  );
}
