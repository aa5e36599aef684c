/** Prefixes of our own tokens and codes, which secret scanners must be able to tell apart. */
const RESERVED = /^tg[acdrs]_$/

const PREFIX = /^[a-z][a-z0-9]{1,14}_$/i

/**
 * A prefix in front of a token in a built-in format: a JWT begins with `eyJ`, an opaque token with
 * `tga_`. Any prefix is removed, so that tokens stay valid when the option changes.
 */
const PREFIXED = /^[a-z][a-z0-9]{1,14}_(?=eyJ|tga_)/i

/**
 * Checks the option `personalAccessTokenPrefix`.
 * @throws TypeError if the prefix is malformed, or the prefix of other tokens
 */
export function parseTokenPrefix(prefix: string): string {
  if (prefix === '' || (PREFIX.test(prefix) && !RESERVED.test(prefix))) return prefix
  throw new TypeError(
    `personalAccessTokenPrefix: ${JSON.stringify(prefix)} is not a prefix. Give 2 to 15 letters and digits and an underscore, such as 'tgp_', and none of tga_, tgc_, tgd_, tgr_ and tgs_.`,
  )
}

/** Removes the prefix of a personal access token. Other texts are returned unchanged. */
export function removeTokenPrefix(text: string, prefix: string): string {
  if (prefix !== '' && text.startsWith(prefix)) return text.slice(prefix.length)
  return text.replace(PREFIXED, '')
}
