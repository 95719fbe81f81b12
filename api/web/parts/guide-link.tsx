import type { ComponentChildren } from "preact";
import { type GuideName, guideAddress } from "../guide-files.js";
import { useVisit } from "../page.js";

interface GuideLinkProps {
  page: GuideName;
  /** The id of a heading on it. */
  heading?: string;
  children: ComponentChildren;
}

/** A link to the page of the guide that explains something. */
export function GuideLink({ page, heading, children }: GuideLinkProps) {
  return <a href={guideAddress(useVisit(), page, heading)}>{children}</a>;
}
