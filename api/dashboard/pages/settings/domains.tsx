import type { PackageDomainV1 } from "../../../../schemas/contracts/package-domain.js";
import { Button, ConfirmButton } from "../../parts/button.js";
import { Field, Form } from "../../parts/form.js";
import { Panel } from "../../parts/panel.js";
import { HostRecord, verificationOf } from "./host-record.js";
import { Table } from "../../parts/table.js";

interface DomainsProps {
  domains: readonly PackageDomainV1[];
  mayChange: boolean;
}

/** The domains that serve a package. */
export function Domains({ domains, mayChange }: DomainsProps) {
  const isVerified = domains.some((domain) => verificationOf(domain) !== undefined);
  return (
    <Panel title="Domains">
      <Table
        caption="Domains"
        columns={[
          { name: "Domain" },
          ...(isVerified ? [{ name: "Verified" }] : []),
          ...(mayChange ? [{ name: "Remove", isUnnamed: true }] : []),
        ]}
        rows={domains.map((domain) => [
          domain.name,
          ...(isVerified ? [<State domain={domain} mayChange={mayChange} />] : []),
          ...(mayChange ? [<Removal id={domain.id} />] : []),
        ])}
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

function State({ domain, mayChange }: { domain: PackageDomainV1; mayChange: boolean }) {
  const state = verificationOf(domain);
  const action = mayChange ? `verify-domain ${domain.id}` : undefined;
  return state === undefined ? null : <HostRecord {...state} action={action} />;
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
