/** The operating system that a text names, as a wire value such as `Linux` or `macOS`, or "". */
export function findPlatform(text: string): string {
  // Docker sends two systems. The first is the engine's, which downloads; the client's is ignored.
  const tagged = /\bos\/([a-z]{1,20})\b/.exec(text)?.[1];
  const searched = tagged ?? text;
  return PLATFORMS.find(({ pattern }) => pattern.test(searched))?.name ?? "";
}

/** The first match wins: Android is a Linux, and `darwin` must not pass for `win`. */
const PLATFORMS: readonly { name: string; pattern: RegExp }[] = [
  { name: "Android", pattern: /android/i },
  { name: "iOS", pattern: /\b(?:iphone|ipad|ipod|ios)\b/i },
  { name: "Windows", pattern: /\b(?:windows|win32|win64|mingw|msys|cygwin)/i },
  { name: "macOS", pattern: /darwin|mac ?os|macintosh|\bosx\b|apple git/i },
  { name: "FreeBSD", pattern: /freebsd/i },
  { name: "OpenBSD", pattern: /openbsd/i },
  { name: "NetBSD", pattern: /netbsd/i },
  { name: "DragonFly", pattern: /dragonfly/i },
  { name: "Solaris", pattern: /\b(?:sunos|solaris|illumos)/i },
  { name: "AIX", pattern: /\baix\b/i },
  { name: "Chrome OS", pattern: /\b(?:cros|chrome ?os|chromium os)\b/i },
  { name: "Linux", pattern: /linux|ubuntu|debian|fedora|centos|red hat|alpine|\bgnu\b/i },
];
