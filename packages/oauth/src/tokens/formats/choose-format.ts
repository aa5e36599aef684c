import type { Keyring } from '../../keys/keyring.ts'
import type { SigningKeys } from '../../keys/signing-keys.ts'
import { findResource } from '../../resources/requested.ts'
import type { Resources } from '../../resources/resources.ts'
import type { Token } from '../../storage/records.ts'
import {
  type AccessTokenFormat,
  type AccessTokenFormatName,
  type AccessTokenOptions,
  checkedFormat,
  type FormatContext,
} from './format.ts'
import { type JwtStyle, jwtFormat } from './jwt.ts'
import { opaqueFormat } from './opaque.ts'

export interface FormatChoice extends FormatContext {
  readonly keys: SigningKeys
  readonly keyring: Keyring
  readonly issuer: string
  readonly resources: Resources
  /** Of the server, for APIs that want no other. */
  readonly accessTokenFormat: AccessTokenFormatName | AccessTokenFormat
}

/** Which format a token is written in: by its API, or by its client where that wants another. */
export function chooseFormat(
  choice: FormatChoice,
): Pick<AccessTokenOptions, 'readable' | 'formatFor' | 'audienceFor'> {
  const { keys, keyring, issuer, resources, accessTokenFormat } = choice
  const { own } = resources
  const opaque = opaqueFormat({
    keyring,
    server: { issuer, audience: own.audience },
    audienceOf: ({ details }) => audienceFor(details?.resources),
  })
  const jwts = new Map<string, AccessTokenFormat>()

  function jwt({ algorithm, typ }: JwtStyle): AccessTokenFormat {
    const name = `${algorithm} ${typ}`
    const known = jwts.get(name) ?? jwtFormat(keys, { algorithm, typ })
    jwts.set(name, known)
    return known
  }

  const ownJwt = jwt({ algorithm: own.algorithm, typ: own.tokenType })
  const custom =
    typeof accessTokenFormat === 'string' ? null : checkedFormat(accessTokenFormat, choice)
  const ofServer = custom ?? (accessTokenFormat === 'opaque' ? opaque : ownJwt)
  const usual = own.format === null ? ofServer : own.format === 'opaque' ? opaque : ownJwt

  function audienceFor(uris: readonly string[] | undefined): string | readonly string[] {
    if (uris === undefined) return own.audience
    // One that is there no more keeps its address, which no guard takes.
    const audiences = uris.map((uri) => findResource(uri, resources)?.audience ?? uri)
    return audiences.length === 1 && audiences[0] !== undefined ? audiences[0] : audiences
  }

  /** For tokens that are not just like all others. */
  function formatOf({ details }: Token, [uri]: readonly string[]): AccessTokenFormat {
    const resource = findResource(uri ?? own.uri, resources) ?? own
    if (details?.opaque) return opaque
    const name = resource.format ?? (custom ? null : accessTokenFormat)
    if (name === 'opaque') return opaque
    // Nobody knows whether it keeps all claims, and an exchanged token must not lose what it ends with.
    if (name === null && details?.parents) return opaque
    if (name === null && custom) return custom
    const wished = details?.signedWith
    // The server may have had a key for it when the client was made.
    const algorithm = wished && keys.algorithms.has(wished) ? wished : resource.algorithm
    return jwt({ algorithm, typ: resource.tokenType })
  }

  return {
    readable: [...(custom ? [custom] : []), opaque, ownJwt],
    formatFor: (token, uris) =>
      token.details === null && uris === undefined ? usual : formatOf(token, uris ?? []),
    audienceFor,
  }
}
