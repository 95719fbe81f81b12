import type {
  HostVerification,
  PackageDomainV1,
  PackageRouteV1,
} from "../../../schemas/contracts/package-routing.js";
import { Button, ConfirmButton, CopyLine, Field, Form } from "../../web/parts/form.js";
import { Badge, Panel } from "../../web/parts/panel.js";
import { Table } from "../../web/parts/table.js";

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
          "Domain",
          ...(isVerified ? ["Status"] : []),
          ...(mayChange ? [{ name: "Actions", isUnnamed: true }] : []),
        ]}
        rows={domains.map((domain) => [
          domain.name,
          ...(isVerified ? [<State domain={domain} mayChange={mayChange} />] : []),
          ...(mayChange ? [<DomainRemoval id={domain.id} />] : []),
        ])}
        empty="No domains yet."
      />
      {mayChange && <DomainForm />}
    </Panel>
  );
}

export function DomainForm() {
  return (
    <Form action="add-domain">
      <Field
        name="name"
        label="Domain"
        required
        placeholder="files.example.org"
        hint="Each domain serves one package."
      />
      <Button>Add domain</Button>
    </Form>
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
      question="Requests to this domain will return 404. It stays reserved for you for 30 days, so you can add it again."
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
        columns={["Path", "Destination", ...(mayChange ? [{ name: "Actions", isUnnamed: true }] : [])]}
        rows={routes.map(({ id, templatePath, outgoingUrl }) => [
          <code>{templatePath}</code>,
          outgoingUrl === "" ? <span class="soft">None (count only)</span> : <code>{outgoingUrl}</code>,
          ...(mayChange ? [<RouteRemoval id={id} />] : []),
        ])}
        empty="No routes yet. Only requests that match a route are counted."
      />
      {mayChange && <RouteForm />}
    </Panel>
  );
}

export function RouteForm() {
  return (
    <Form action="add-route">
      <Field
        name="templatePath"
        label="Path"
        required
        placeholder="/{version}/{+file}"
        hint="{version} and {platform} set the version and platform of a download; any other name becomes a variable. {+file} can contain slashes."
      />
      <Field
        name="outgoingUrl"
        label="Destination"
        placeholder="https://github.com/acme/web/releases/download/{version}/{file}"
        hint="Leave empty to count requests without redirecting."
      />
      <Button>Add route</Button>
    </Form>
  );
}

function RouteRemoval({ id }: { id: string }) {
  return (
    <ConfirmButton
      action={`remove-route ${id}`}
      label="Remove"
      question="Requests to this route will return 404. Downloads counted so far are kept."
    />
  );
}

interface HostRecordProps extends HostVerification {
  /** The `action` of the form that asks to look again; absent for those who may not. */
  action?: string | undefined;
}

/** Whether a host is verified, or else the record to set. */
export function HostRecord({ verified, verification, action }: HostRecordProps) {
  if (verified) return <Badge kind="good">Verified</Badge>;
  return (
    <>
      <p>
        <Badge kind="warn">Not verified</Badge> To verify this host, add this TXT record to its DNS:
      </p>
      <CopyLine label="TXT record name" text={verification.name} />
      <CopyLine label="TXT record value" text={verification.value} />
      {action !== undefined && (
        <Form action={action}>
          <Button kind="quiet">Check DNS</Button>
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
