import type { PackageDomainV1 } from "../../../../schemas/contracts/package-domain.js";
import { Button, ConfirmButton } from "../../parts/button.js";
import { Field, Form } from "../../parts/form.js";
import { Panel } from "../../parts/panel.js";
import { Table } from "../../parts/table.js";

interface DomainsProps {
  domains: readonly PackageDomainV1[];
  mayChange: boolean;
}

/** The domains that serve a package. */
export function Domains({ domains, mayChange }: DomainsProps) {
  return (
    <Panel title="Domains">
      <Table
        caption="Domains"
        columns={[{ name: "Domain" }, ...(mayChange ? [{ name: "Remove", isUnnamed: true }] : [])]}
        rows={domains.map(({ id, name }) => [name, ...(mayChange ? [<Removal id={id} />] : [])])}
        empty="There is no domain yet."
      />
      {mayChange && (
        <Form action="add-domain">
          <Field
            name="name"
            label="Domain"
            required
            placeholder="files.example.org"
            hint="Point it at this service first. A domain serves one package."
          />
          <Button>Add domain</Button>
        </Form>
      )}
    </Panel>
  );
}

function Removal({ id }: { id: string }) {
  return (
    <ConfirmButton
      action={`remove-domain ${id}`}
      label="Remove"
      question="Requests to it are answered 404 from then on. It can be added again, and is held for this owner for 30 days."
    />
  );
}
