import type { PackageV1 } from "../../../../schemas/contracts/package.js";
import { PUBLIC_KINDS, type PublicKind } from "../../../../schemas/contracts/package-public.js";
import { useVisit } from "../../page.js";
import { Button } from "../../parts/button.js";
import { CopyLine } from "../../parts/copy-line.js";
import { Form, Select } from "../../parts/form.js";
import { Panel } from "../../parts/panel.js";
import { badgeSnippets, publicAddresses } from "../../public-addresses.js";

const WORDS: Record<PublicKind, string> = {
  none: "Nothing",
  badge: "A badge: one number",
  page: "A badge and a page: downloads, versions, clients, platforms, countries",
};

/** The form that chooses how much everybody may see of a package, and the lines that show it elsewhere. */
export function Public({ record, shown }: { record: PackageV1; shown: PublicKind }) {
  return (
    <Panel title="For everybody">
      <Form action="public">
        <Select
          name="public"
          label="Everybody may see"
          options={PUBLIC_KINDS.map((value) => ({ value, label: WORDS[value] }))}
          value={shown}
          hint="Never companies, addresses, cities or variables."
        />
        <Button>Save</Button>
      </Form>
      {shown !== "none" && <Snippets record={record} hasPage={shown === "page"} />}
    </Panel>
  );
}

function Snippets({
  record: { owner, name, libraryType },
  hasPage,
}: {
  record: PackageV1;
  hasPage: boolean;
}) {
  const { ctx } = useVisit();
  const plain = publicAddresses(ctx.state.publicBase, { owner, name });
  const typed = publicAddresses(ctx.state.publicBase, { owner, name, type: libraryType });
  const snippets = badgeSnippets({ badge: plain.badge, page: hasPage ? plain.page : undefined });
  return (
    <>
      {hasPage && (
        <p>
          <a href={plain.page}>The public page</a>
        </p>
      )}
      {Object.entries(snippets).map(([markup, text]) => (
        <>
          <h3>{markup}</h3>
          <CopyLine label={`The badge in ${markup}`} text={text} />
        </>
      ))}
      <p class="soft small">
        If another public package here has this name, add the type: <code>{new URL(typed.badge).search}</code>
      </p>
    </>
  );
}
