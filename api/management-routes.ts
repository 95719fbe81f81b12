import type { TokenRoutesDeps } from "./base/identity/accounts.js";
import { DEFAULT_QUOTAS, type Quotas } from "./base/access/quotas.js";
import type { Route } from "./base/http/route.js";
import { apiTokenRoutes } from "./features/accounts/api-token-routes.js";
import { auditRoutes } from "./features/accounts/audit-routes.js";
import { memberRoutes } from "./features/accounts/member-routes.js";
import { organizationRoutes } from "./features/accounts/organization-routes.js";
import {
  packageAccessRoutes,
  packagePermissionRoutes,
} from "./features/packages/package-permission-routes.js";
import { packageDomainRoutes } from "./features/packages/package-domain-routes.js";
import { packagePublicRoutes } from "./features/public/package-public-routes.js";
import { packageRecordRoutes, packageUpstreamRoutes } from "./features/packages/package-record-routes.js";
import { packageRouteRoutes } from "./features/packages/package-route-routes.js";
import { packageRoutes } from "./features/packages/package-routes.js";
import { pixelRoutes } from "./features/packages/pixel-routes.js";
import { hostVerificationRoutes } from "./features/packages/host-verification-routes.js";
import type { HostChecks } from "./features/packages/hosts/host-checks.js";
import type { CollectHost } from "./features/packages/hosts/public-hosts.js";
import { userRoutes } from "./features/accounts/user-routes.js";

interface ManagementDeps {
  quotas?: Quotas | undefined;
  collectHost?: CollectHost;
  hosts?: HostChecks | undefined;
}

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
