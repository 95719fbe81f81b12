import type { TokenRoutesDeps } from "./identity/accounts.js";
import { DEFAULT_QUOTAS, type Quotas } from "./access/quotas.js";
import type { Route } from "./http/route.js";
import { apiTokenRoutes } from "./accounts/api-token-routes.js";
import { auditRoutes } from "./accounts/audit-routes.js";
import { memberRoutes } from "./organizations/member-routes.js";
import { organizationRoutes } from "./organizations/organization-routes.js";
import { packageAccessRoutes, packagePermissionRoutes } from "./packages/package-permission-routes.js";
import { packageDomainRoutes } from "./packages/package-domain-routes.js";
import { packagePublicRoutes } from "./public/package-public-routes.js";
import { packageRecordRoutes, packageUpstreamRoutes } from "./packages/package-record-routes.js";
import { packageRouteRoutes } from "./packages/package-route-routes.js";
import { packageRoutes } from "./packages/package-routes.js";
import { pixelRoutes } from "./pixels/pixel-routes.js";
import { hostVerificationRoutes } from "./packages/host-verification-routes.js";
import type { HostChecks } from "./hosts/host-checks.js";
import type { CollectHost } from "./hosts/public-hosts.js";
import { userRoutes } from "./accounts/user-routes.js";

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
