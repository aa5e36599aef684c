import type { Awaitable } from '../../awaitable.ts'
import { isBearerText } from '../../http/bearer-text.ts'
import type { Token } from '../../storage/records.ts'
import { type AccessTokenClaims, buildClaims, isBound, parseClaims } from './claims.ts'

/** What a format may ask the server for. */
export interface FormatContext {
  /** The row of a token, for formats whose text does not say everything. */
  findToken(id: string): Promise<Token | null>
}

/**
 * How the claims of an access token become the text a client carries, and back. The server builds the
 * claims, and checks what comes back: issuer, audience, expiry and revocation are its business.
 */
export interface AccessTokenFormat {
  /** Whether the text could be one of this format, by its looks alone. Others are tried otherwise. */
  recognizes(text: string): boolean
  /**
   * Letters, digits and `-._~+/=` only (RFC 6750 §2.1). `token` is the row: it has all scopes that were
   * granted, while a refresh may have asked for fewer, which are those in `claims.scope`.
   */
  encode(claims: AccessTokenClaims, token: Token): string | Promise<string>
  /** Null unless the text is genuine: unaltered, and made by this server. */
  decode(
    text: string,
    context: FormatContext,
  ): AccessTokenClaims | null | Promise<AccessTokenClaims | null>
}

/** The formats that come with the server. */
export type AccessTokenFormatName = 'jwt' | 'opaque'
export const accessTokenFormats: readonly AccessTokenFormatName[] = ['jwt', 'opaque']

/** What a token is asked for: part of what its row grants, or all of it. */
export interface TokenShare {
  readonly scopes: readonly string[]
  /** The APIs, by their addresses. */
  readonly resources: readonly string[] | undefined
}

export interface AccessTokens {
  encode(token: Token, share: TokenShare): Awaitable<string>
  /** Null: not genuine. */
  decode(text: string): Awaitable<AccessTokenClaims | null>
  /** `aud` of tokens for these APIs. */
  audienceFor(resources: readonly string[] | undefined): string | readonly string[]
}

export interface AccessTokenOptions extends FormatContext {
  readonly issuer: string
  /** What is read: the choice can be changed while tokens live. */
  readonly readable: readonly AccessTokenFormat[]
  /** What tokens for these APIs are written in. */
  formatFor(token: Token, resources: readonly string[] | undefined): AccessTokenFormat
  /** `aud` of tokens for these APIs. */
  audienceFor(resources: readonly string[] | undefined): string | readonly string[]
}

/** Writes the format that is wanted and reads all of them. */
export function createAccessTokens(options: AccessTokenOptions): AccessTokens {
  const { issuer, readable } = options

  return {
    encode(token, { scopes, resources }) {
      const audience = options.audienceFor(resources)
      const claims = buildClaims(token, scopes, { issuer, audience })
      return options.formatFor(token, resources).encode(claims, token)
    },
    decode(text) {
      const format = readable.find((each) => each.recognizes(text))
      return format ? format.decode(text, options) : null
    },
    audienceFor: options.audienceFor,
  }
}

/** A format of the application's own, held to what a header can carry and to what a key is worth. */
export function checkedFormat(
  format: AccessTokenFormat,
  context: FormatContext,
): AccessTokenFormat {
  const decode: AccessTokenFormat['decode'] = async (text, context) =>
    parseClaims(await format.decode(text, context))

  /** A format that forgets the key would make a token for everybody of one that is for its holder. */
  async function assertStaysBound(text: string, { cnf }: AccessTokenClaims): Promise<void> {
    const back = await decode(text, context)
    if (back?.cnf?.jkt === cnf?.jkt) return
    throw new TypeError('accessTokenFormat: decode() must give every claim back, also cnf')
  }

  return {
    recognizes: (text) => format.recognizes(text),
    async encode(claims, token) {
      const text = await format.encode(claims, token)
      if (!isBearerText(text)) {
        throw new TypeError('accessTokenFormat: encode() gave a text that no header can carry')
      }
      if (isBound(claims)) await assertStaysBound(text, claims)
      return text
    },
    decode,
  }
}
