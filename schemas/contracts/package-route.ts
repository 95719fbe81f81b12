/** PackageRouteV1, as returned. */
export interface PackageRouteV1 extends CreatePackageRouteV1 {
  id: string;
}

/** CreatePackageRouteV1, as sent. */
export interface CreatePackageRouteV1 {
  /** Empty if the route only collects. */
  outgoingUrl: string;
  templatePath: string;
}

export const PACKAGE_ROUTE_V1 = {
  title: "PackageRouteV1",
  type: "object",
  required: ["id", "outgoingUrl", "templatePath"],
  additionalProperties: false,
  properties: {
    id: { type: "string", format: "uuid" },
    outgoingUrl: { type: "string" },
    templatePath: { type: "string" },
  },
} as const;

export const CREATE_PACKAGE_ROUTE_V1 = {
  title: "CreatePackageRouteV1",
  type: "object",
  required: ["outgoingUrl", "templatePath"],
  additionalProperties: false,
  properties: {
    outgoingUrl: {
      type: "string",
      maxLength: 2048,
      description:
        "An absolute http(s) URL template of at most 16 variables, all of them in templatePath; empty to only collect",
    },
    templatePath: {
      type: "string",
      minLength: 1,
      maxLength: 1024,
      description:
        "A path, and parameters if need be, as an RFC 6570 template of level 2 with at most 16 variables: " +
        "/{version}/{+file}?os={os}",
    },
  },
} as const;

/** The limit for one template: more variables make matching slower and requests larger. */
export const VARIABLES_MAX = 16;
