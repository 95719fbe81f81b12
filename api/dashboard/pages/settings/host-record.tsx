import type { HostVerification } from "../../../../schemas/contracts/host-verification.js";
import { Badge } from "../../parts/badge.js";
import { Button } from "../../parts/button.js";
import { CopyLine } from "../../parts/copy-line.js";
import { Form } from "../../parts/form.js";

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
