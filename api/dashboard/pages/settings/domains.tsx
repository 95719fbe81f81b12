import type {
  HostVerification,
  PackageDomainV1,
  PackageRouteV1,
} from "../../../../schemas/contracts/package-routing.js";
import { Button, ConfirmButton, CopyLine, Field, Form } from "../../parts/form.js";
import { Badge, Panel } from "../../parts/panel.js";
import { Table } from "../../parts/table.js";

interface DomainsProps {
  domains: readonly PackageDomainV1[];
  mayChange: boolean;
}

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
          ...(mayChange ? [<DomainRemoval id={domain.id} />] : []),
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

function DomainRemoval({ id }: { id: string }) {
  return (
    <ConfirmButton
      action={`remove-domain ${id}`}
      label="Remove"
      question="Requests to it are answered 404 from then on. It can be added again, and is held for this owner for 30 days."
    />
  );
}

interface RoutesProps {
  routes: readonly PackageRouteV1[];
  mayChange: boolean;
}

export function Routes({ routes, mayChange }: RoutesProps) {
  return (
    <Panel title="Routes">
      <Table
        caption="Routes"
        columns={[
          { name: "Path" },
          { name: "Leads to" },
          ...(mayChange ? [{ name: "Remove", isUnnamed: true }] : []),
        ]}
        rows={routes.map(({ id, templatePath, outgoingUrl }) => [
          <code>{templatePath}</code>,
          outgoingUrl === "" ? (
            <span class="soft">Nowhere: it only collects</span>
          ) : (
            <code>{outgoingUrl}</code>
          ),
          ...(mayChange ? [<RouteRemoval id={id} />] : []),
        ])}
        empty="There is no route yet: no request is counted."
      />
      {mayChange && (
        <Form action="add-route">
          <Field
            name="templatePath"
            label="Path"
            required
            placeholder="/web/{version}/{file}"
            hint="{version} and {platform} are counted as such; every other name is a variable. {+file} may span slashes."
          />
          <Field
            name="outgoingUrl"
            label="Leads to"
            placeholder="https://github.com/acme/web/releases/download/{version}/{file}"
            hint="Left empty, the route only collects."
          />
          <Button>Add route</Button>
        </Form>
      )}
    </Panel>
  );
}

function RouteRemoval({ id }: { id: string }) {
  return (
    <ConfirmButton
      action={`remove-route ${id}`}
      label="Remove"
      question="Requests for it are answered 404 from then on. What was counted stays."
    />
  );
}

interface HostRecordProps extends HostVerification {
  /** The `action` of the form that asks to look again; absent for those who may not. */
  action?: string | undefined;
}

/** Whether a host is verified, or else the record to set. */
export function HostRecord({ verified, verification, action }: HostRecordProps) {
  if (verified) return <Badge kind="good">verified</Badge>;
  return (
    <>
      <p>
        <Badge kind="warn">not verified</Badge> It is served once the DNS has this record:
      </p>
      <CopyLine label="Name of the TXT record" text={verification.name} />
      <CopyLine label="Value of the TXT record" text={verification.value} />
      {action !== undefined && (
        <Form action={action}>
          <Button kind="quiet">Look again</Button>
        </Form>
      )}
    </>
  );
}

/** The state of a host, where the service asks for one. */
export function verificationOf({
  verified,
  verification,
}: Partial<HostVerification>): HostVerification | undefined {
  return verified === undefined || verification === undefined ? undefined : { verified, verification };
}
