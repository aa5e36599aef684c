/** Removes every password from a URL, even if the URL is malformed. */
export function redactUrl(url: string): string {
  return url
    .replace(/^([^:]*:\/*[^:@]*):.*@/s, '$1:***@')
    .replace(/([?&](?:password|passwd|pwd|secret|token|key|ssl[a-z]*)=)[^&#]*/gi, '$1***')
}

/** Checks the URL of a database server. Returns the URL without its password. */
export function checkServerUrl(url: string): string {
  const shown = redactUrl(url)
  let parsed: URL
  try {
    parsed = new URL(url)
  } catch {
    throw new TypeError(
      `The database URL "${shown}" cannot be read; write special characters in the password as %XX`,
    )
  }
  if (parsed.pathname.length < 2) {
    throw new TypeError(`The database URL "${shown}" names no database; add it as …/name`)
  }
  return shown
}
