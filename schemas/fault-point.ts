import { channel } from "node:diagnostics_channel";

/**
 * The points at which a crash could do most harm to an import, in order of processing. Each is a diagnostics channel of
 * Node without listeners, so that passing one costs one check. The fault tests preload a module that listens, and kills
 * the process or a store at that point.
 */
export const FAULT_POINTS = [
  "before-append",
  "after-append",
  "before-upload-complete",
  "before-answer",
  "before-range",
  "after-range",
  "before-insert",
  "after-insert",
  "after-progress",
  "settlement-found",
  "settlement-staged",
  "settlement-applied",
  "settlement-closed",
  "before-done",
] as const;

/**
 * The fault points of a funnel run: between the announcements of one transaction, and around the commit of an owner's
 * companies.
 */
export const FUNNEL_FAULT_POINTS = [
  "funnel-announced",
  "funnel-before-commit",
  "funnel-after-commit",
] as const;

/** The fault points of an attempt to deliver to a webhook. */
export const DELIVERY_FAULT_POINTS = [
  "delivery-before-request",
  "delivery-after-answer",
  "delivery-after-record",
] as const;

export const ALL_FAULT_POINTS = [...FAULT_POINTS, ...FUNNEL_FAULT_POINTS, ...DELIVERY_FAULT_POINTS] as const;

export type FaultPoint = (typeof ALL_FAULT_POINTS)[number];

const CHANNELS = Object.fromEntries(
  ALL_FAULT_POINTS.map((point) => [point, channel(channelOf(point))]),
) as Record<FaultPoint, ReturnType<typeof channel>>;

/** The channel on which fault tests listen. */
export function channelOf(point: FaultPoint): string {
  return `maintainer-toolchain:fault-point:${point}`;
}

/** Does nothing unless a fault test listens. */
export function passFaultPoint(point: FaultPoint): void {
  const here = CHANNELS[point];
  if (here.hasSubscribers) here.publish(point);
}
