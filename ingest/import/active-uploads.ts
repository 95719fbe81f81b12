/** The import was aborted during its upload. */
export class UploadAborted extends Error {
  constructor(importId: string) {
    super(`import ${importId} was aborted during its upload`);
    this.name = "UploadAborted";
  }
}

export interface ActiveUpload extends Disposable {
  readonly signal: AbortSignal;
  abort(): void;
}

/** The uploads of this process, so that an abort stops them at once. An abort elsewhere shows in their lease. */
export class ActiveUploads {
  private readonly uploads = new Map<string, AbortController>();

  get size(): number {
    return this.uploads.size;
  }

  open(importId: string): ActiveUpload {
    const controller = new AbortController();
    this.uploads.set(importId, controller);
    return {
      signal: controller.signal,
      abort: () => controller.abort(new UploadAborted(importId)),
      [Symbol.dispose]: () => void this.uploads.delete(importId),
    };
  }

  abort(importId: string): void {
    this.uploads.get(importId)?.abort(new UploadAborted(importId));
  }
}
