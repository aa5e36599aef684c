import type { DerivedKeyring } from '../../keys/keyring.ts'
import type { SigningKeys } from '../../keys/signing-keys.ts'
import { findResource } from '../../resources/requested.ts'
import type { ResourceServers } from '../../resources/resources.ts'
import type { Token } from '../../storage/records.ts'
import {
  type AccessTokenFormat,
  type AccessTokenFormatName,
  type AccessTokenOptions,
  type FormatContext,
  withClaimChecks,
} from './format.ts'
import { createJwtFormat, type JwtFormatOptions } from './jwt.ts'
import { createOpaqueFormat } from './opaque.ts'

export interface FormatChoiceOptions extends FormatContext {
  readonly keys: SigningKeys
  readonly keyring: DerivedKeyring
  readonly issuer: string
  readonly resources: ResourceServers
  /** The server's default format, for APIs without a format of their own. */
  readonly accessTokenFormat: AccessTokenFormatName | AccessTokenFormat
}

/**
 * Builds the functions that choose the format and audience of a new access token: the format and
 * audience of its API, unless the client requires another format.
 */
export function chooseFormat(
  choice: FormatChoiceOptions,
): Pick<AccessTokenOptions, 'readable' | 'formatFor' | 'audienceFor'> {
  const { keys, keyring, issuer, resources, accessTokenFormat } = choice
  const { own } = resources
  const opaque = createOpaqueFormat({
    keyring,
    server: { issuer, audience: own.audience },
    audienceOf: ({ details }) => audienceFor(details?.resources),
  })
  const jwts = new Map<string, AccessTokenFormat>()

  function jwt({ algorithm, typ }: JwtFormatOptions): AccessTokenFormat {
    const name = `${algorithm} ${typ}`
    const known = jwts.get(name) ?? createJwtFormat(keys, { algorithm, typ })
    jwts.set(name, known)
    return known
  }

  const ownJwt = jwt({ algorithm: own.algorithm, typ: own.tokenType })
  const custom =
    typeof accessTokenFormat === 'string' ? null : withClaimChecks(accessTokenFormat, choice)
  const serverFormat = custom ?? (accessTokenFormat === 'opaque' ? opaque : ownJwt)
  const defaultFormat =
    own.format === null ? serverFormat : own.format === 'opaque' ? opaque : ownJwt

  function audienceFor(uris: readonly string[] | undefined): string | readonly string[] {
    if (uris === undefined) return own.audience
    // A removed API keeps its URI as audience, which no guard accepts.
    const audiences = uris.map((uri) => findResource(uri, resources)?.audience ?? uri)
    return audiences.length === 1 && audiences[0] !== undefined ? audiences[0] : audiences
  }

  /** Chooses the format of tokens with details or named APIs. */
  function formatOf({ details }: Token, [uri]: readonly string[]): AccessTokenFormat {
    const resource = findResource(uri ?? own.uri, resources) ?? own
    if (details?.opaque) return opaque
    const name = resource.format ?? (custom ? null : accessTokenFormat)
    if (name === 'opaque') return opaque
    // A custom format may lose claims, and an exchanged token must keep `parents`, because it ends
    // with them.
    if (name === null && details?.parents) return opaque
    if (name === null && custom) return custom
    const requestedAlgorithm = details?.signedWith
    // The server may no longer have a key for the algorithm the client registered.
    const algorithm =
      requestedAlgorithm && keys.algorithms.has(requestedAlgorithm)
        ? requestedAlgorithm
        : resource.algorithm
    return jwt({ algorithm, typ: resource.tokenType })
  }

  return {
    readable: [...(custom ? [custom] : []), opaque, ownJwt],
    formatFor: (token, uris) =>
      token.details === null && uris === undefined ? defaultFormat : formatOf(token, uris ?? []),
    audienceFor,
  }
}
