interface Exception {
  page: string;
  /** A part of the finding. */
  text: string;
  reason: string;
}

/** Places that stay although a rule finds them. */
export const EXCEPTIONS: readonly Exception[] = [
  {
    page: "README.md",
    text: "Maintainer Toolchain tells you who, where and which version",
    reason: "The promise names every kind of package in one breath.",
  },
  {
    page: "README.md",
    text: "through a host name of yours",
    reason: "The list is about what is yours: your files, your images, your host name.",
  },
];
