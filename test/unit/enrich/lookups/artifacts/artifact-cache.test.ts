import { describe, expect, test, vi } from "vitest";
import { ArtifactCache, type ArtifactRequest } from "../../../../../enrich/lookups/artifact-cache.js";
import { dockerPackage, PACKAGE_ID } from "../../lines/chunk-of.js";

const request = { accountId: "account", ownerId: "owner", kind: "package", id: PACKAGE_ID } as const;

describe("ArtifactCache", () => {
  test("answers an artifact at once the second time", async () => {
    const resolve = vi.fn(async () => dockerPackage);
    const cache = new ArtifactCache(resolve);
    expect(await cache.of(request)).toMatchObject({ artifact: dockerPackage });
    expect(cache.of(request)).toMatchObject({ artifact: dockerPackage });
    expect(resolve).toHaveBeenCalledOnce();
  });

  test("asks once for what is refused in a chunk, and again for the next: it may have been created since", async () => {
    const created: (typeof dockerPackage)[] = [];
    const resolve = vi.fn(async () => created[0]);
    const cache = new ArtifactCache(resolve);
    const [earlier, id] = [cache.forChunk(request), { kind: "package", id: PACKAGE_ID } as const];
    expect(await earlier(id)).toMatchObject({ artifact: undefined });
    created.push(dockerPackage);
    expect(await earlier(id)).toMatchObject({ artifact: undefined });
    expect(resolve).toHaveBeenCalledOnce();
    expect(await cache.forChunk(request)(id)).toMatchObject({ artifact: dockerPackage });
  });

  test.each([{ accountId: "other" }, { ownerId: "other" }, { kind: "pixel" as const }, { id: "other" }])(
    "asks anew for %j",
    async (other) => {
      const resolve = vi.fn(async () => dockerPackage);
      const cache = new ArtifactCache(resolve);
      await cache.of(request);
      await cache.of({ ...request, ...other });
      expect(resolve).toHaveBeenCalledTimes(2);
    },
  );

  test("asks again after a second: a right may have been taken away", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    const clock = vi.spyOn(performance, "now").mockReturnValue(1_000);
    const resolve = vi.fn(async () => dockerPackage);
    const cache = new ArtifactCache(resolve);
    await cache.of(request);
    await vi.advanceTimersByTimeAsync(1_001);
    clock.mockReturnValue(2_001);
    expect(cache.of(request)).toBeInstanceOf(Promise);
    clock.mockRestore();
    vi.useRealTimers();
    expect(resolve).toHaveBeenCalledTimes(2);
  });

  test("answers the lines of a chunk from what one of them got, however long that is ago", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    const clock = vi.spyOn(performance, "now").mockReturnValue(1_000);
    const resolve = vi.fn(async ({ kind }: ArtifactRequest) =>
      kind === "package" ? dockerPackage : undefined,
    );
    const artifactOf = new ArtifactCache(resolve).forChunk(request);
    for (const now of [1_000, 1_500, 9_000]) {
      clock.mockReturnValue(now);
      expect(await artifactOf({ kind: "package", id: PACKAGE_ID })).toMatchObject({
        artifact: dockerPackage,
      });
      expect(await artifactOf({ kind: "pixel", id: PACKAGE_ID })).toMatchObject({ artifact: undefined });
      await vi.advanceTimersByTimeAsync(1_001);
    }
    clock.mockRestore();
    vi.useRealTimers();
    expect(resolve).toHaveBeenCalledTimes(2);
  });

  test("does not keep a failure", async () => {
    const resolve = vi.fn(async () => dockerPackage).mockRejectedValueOnce(new Error("connection refused"));
    const cache = new ArtifactCache(resolve);
    await expect(cache.of(request)).rejects.toThrow("connection refused");
    expect(await cache.of(request)).toMatchObject({ artifact: dockerPackage });
  });
});
