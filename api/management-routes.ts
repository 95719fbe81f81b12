import type { TokenRoutesDeps } from "./identity/accounts.js";
import { DEFAULT_QUOTAS, type Quotas } from "./authorise/quotas.js";
import type { Route } from "./route.js";
import { apiTokenRoutes } from "./routes/accounts/api-tokens.js";
import { auditRoutes } from "./routes/accounts/audit.js";
import { memberRoutes } from "./routes/accounts/members.js";
import { organizationRoutes } from "./routes/accounts/organizations.js";
import { packageAccessRoutes } from "./routes/packages/package-access.js";
import { packageDomainRoutes } from "./routes/packages/package-domains.js";
import { packagePermissionRoutes } from "./routes/packages/package-permissions.js";
import { packagePublicRoutes } from "./routes/packages/package-public.js";
import { packageRecordRoutes } from "./routes/packages/package-records.js";
import { packageRouteRoutes } from "./routes/packages/package-routes.js";
import { packageUpstreamRoutes } from "./routes/packages/package-upstream.js";
import { packageRoutes } from "./routes/packages/packages.js";
import { pixelRoutes } from "./routes/packages/pixels.js";
import { hostVerificationRoutes } from "./routes/packages/host-verification.js";
import type { HostChecks } from "./hosts/host-checks.js";
import type { CollectHost } from "./stores/packages/public-hosts.js";
import { userRoutes } from "./routes/accounts/user.js";

interface ManagementDeps {
  quotas?: Quotas | undefined;
  collectHost?: CollectHost;
  hosts?: HostChecks | undefined;
}

/** Every operation that needs only PostgreSQL. */
export function managementRoutes({
  pg,
  tokens,
  onIssued,
  collectHost,
  hosts,
  quotas = DEFAULT_QUOTAS,
}: TokenRoutesDeps & ManagementDeps): Route[] {
  return [
    ...userRoutes({ pg, tokens, onIssued }),
    ...apiTokenRoutes({ pg, tokens, onIssued, quotas }),
    ...auditRoutes({ pg }),
    ...organizationRoutes({ pg, quotas }),
    ...memberRoutes({ pg }),
    ...packageRoutes({ pg, quotas, collectHost }),
    ...packageRecordRoutes({ pg, collectHost }),
    ...packageAccessRoutes({ pg }),
    ...packageUpstreamRoutes({ pg, hosts }),
    ...packagePermissionRoutes({ pg }),
    ...packagePublicRoutes({ pg }),
    ...packageRouteRoutes({ pg, quotas }),
    ...packageDomainRoutes({ pg, quotas, collectHost, hosts }),
    ...hostVerificationRoutes({ pg, hosts }),
    ...pixelRoutes({ pg, quotas }),
  ];
}
