/**
 * The platforms of events, and words in lower case that name them. The first of the list wins: Android runs
 * on Linux, and an iPhone's browser is "like Mac OS X". Stored events keep their names.
 */
export const PLATFORMS: readonly { readonly name: string; readonly words: readonly string[] }[] = [
  { name: "Android", words: ["android", "androideabi"] },
  { name: "iOS", words: ["ios", "ipados", "iphone", "iphoneos", "ipad", "ipod"] },
  { name: "Windows", words: ["windows", "win", "winnt", "windowsnt", "mingw", "msys", "cygwin", "winarm"] },
  { name: "macOS", words: ["macos", "macosx", "mac", "macintosh", "darwin", "osx"] },
  { name: "FreeBSD", words: ["freebsd", "kfreebsd"] },
  { name: "OpenBSD", words: ["openbsd"] },
  { name: "NetBSD", words: ["netbsd"] },
  { name: "SunOS", words: ["sunos", "solaris", "illumos", "smartos", "omnios"] },
  { name: "AIX", words: ["aix"] },
  {
    name: "Linux",
    words: [
      ...[
        "linux",
        "linuxmusl",
        "manylinux",
        "musllinux",
        "linuxkit",
        "ubuntu",
        "debian",
        "fedora",
        "centos",
        "rhel",
      ],
      ...[
        "redhat",
        "almalinux",
        "rockylinux",
        "archlinux",
        "amazonlinux",
        "opensuse",
        "suse",
        "sles",
        "alpine",
      ],
      ...["gentoo", "nixos", "raspbian", "wolfi"],
    ],
  },
];
