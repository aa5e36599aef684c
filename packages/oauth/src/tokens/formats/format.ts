import { type Awaitable, mapAwaitable } from '../../awaitable.ts'
import { isBearerText } from '../../http/bearer-text.ts'
import type { Token } from '../../storage/records.ts'
import { type AccessTokenClaims, buildClaims, isBoundToKey, parseClaims } from './claims.ts'
import { removeTokenPrefix } from './token-prefix.ts'

/** Functions that the server provides to a token format. */
export interface FormatContext {
  /** Finds the stored token by its id, for formats whose text does not contain all claims. */
  findToken(id: string): Promise<Token | null>
}

/**
 * Converts the claims of an access token to text and back. The server builds the claims, and checks
 * the issuer, audience, expiry and revocation of decoded claims.
 */
export interface AccessTokenFormat {
  /**
   * Whether a text could be in this format, judging by its form alone. If not, other formats are
   * tried.
   */
  recognizes(text: string): boolean
  /**
   * Encodes the claims as text. The text may contain only letters, digits and `-._~+/=` (RFC 6750
   * §2.1).
   *
   * `token` is the stored row with all granted scopes. A refresh may have requested fewer: only
   * `claims.scope` applies to this access token.
   */
  encode(claims: AccessTokenClaims, token: Token): string | Promise<string>
  /** Decodes a text. Returns `null` unless this server made it and it is unchanged. */
  decode(
    text: string,
    context: FormatContext,
  ): AccessTokenClaims | null | Promise<AccessTokenClaims | null>
}

/** Names of the built-in formats. */
export type AccessTokenFormatName = 'jwt' | 'opaque'
export const accessTokenFormats: readonly AccessTokenFormatName[] = ['jwt', 'opaque']

/**
 * The scopes and APIs of one access token: all scopes and APIs of its grant, or only some of them.
 */
export interface TokenAccess {
  readonly scopes: readonly string[]
  /** URIs of the APIs that the access token is for. `undefined` for the server's own API. */
  readonly resources: readonly string[] | undefined
}

export interface AccessTokens {
  encode(token: Token, share: TokenAccess): Awaitable<string>
  /** Decodes an access token. `null` if it is not genuine. */
  decode(text: string): Awaitable<AccessTokenClaims | null>
  /** Returns the `aud` claim of tokens for these APIs. */
  audienceFor(resources: readonly string[] | undefined): string | readonly string[]
}

export interface AccessTokenOptions extends FormatContext {
  readonly issuer: string
  /**
   * All formats in which access tokens are accepted. Includes both built-in ones, so that the
   * option `accessTokenFormat` can be changed while older tokens are still valid.
   */
  readonly readable: readonly AccessTokenFormat[]
  /** Chooses the format of a new access token for these APIs. */
  formatFor(token: Token, resources: readonly string[] | undefined): AccessTokenFormat
  /** Returns the `aud` claim of tokens for these APIs. */
  audienceFor(resources: readonly string[] | undefined): string | readonly string[]
  /** Text in front of new personal access tokens. Empty for none. */
  readonly personalAccessTokenPrefix: string
}

/**
 * Creates functions that encode access tokens in the chosen format and decode them in all accepted
 * formats.
 */
export function createAccessTokens(options: AccessTokenOptions): AccessTokens {
  const { issuer, readable, personalAccessTokenPrefix: prefix } = options

  function decodeExactly(text: string): Awaitable<AccessTokenClaims | null> {
    const format = readable.find((each) => each.recognizes(text))
    return format ? format.decode(text, options) : null
  }

  return {
    encode(token, { scopes, resources }) {
      const audience = options.audienceFor(resources)
      const claims = buildClaims(token, scopes, { issuer, audience })
      const text = options.formatFor(token, resources).encode(claims, token)
      if (prefix === '' || token.grantType !== 'personal_access') return text
      return mapAwaitable(text, (bare) => prefix + bare)
    },
    decode(text) {
      const bare = removeTokenPrefix(text, prefix)
      if (bare === text) return decodeExactly(text)
      // A text in a custom format may begin like a prefix.
      return mapAwaitable(decodeExactly(bare), (claims) => claims ?? decodeExactly(text))
    },
    audienceFor: options.audienceFor,
  }
}

/**
 * Wraps a custom format to check its results: encoded tokens must fit into a header, and decoded
 * claims must keep the key that the token is bound to.
 */
export function withClaimChecks(
  format: AccessTokenFormat,
  context: FormatContext,
): AccessTokenFormat {
  const decode: AccessTokenFormat['decode'] = async (text, context) =>
    parseClaims(await format.decode(text, context))

  /** Rejects a format that loses `cnf`, because its tokens could be used without the key. */
  async function assertStaysBound(text: string, { cnf }: AccessTokenClaims): Promise<void> {
    const back = await decode(text, context)
    if (back?.cnf?.jkt === cnf?.jkt) return
    throw new TypeError('accessTokenFormat: decode() must return every claim, including cnf')
  }

  return {
    recognizes: (text) => format.recognizes(text),
    async encode(claims, token) {
      const text = await format.encode(claims, token)
      if (!isBearerText(text)) {
        throw new TypeError(
          'accessTokenFormat: encode() must return text that is allowed in the Authorization header',
        )
      }
      if (isBoundToKey(claims)) await assertStaysBound(text, claims)
      return text
    },
    decode,
  }
}
