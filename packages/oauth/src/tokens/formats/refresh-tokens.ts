import { areSecretsEqual, computeHmac } from '../../crypto.ts'
import type { DerivedKeyring } from '../../keys/keyring.ts'

/** The content of a genuine refresh token. */
export interface RefreshTokenContent {
  readonly tokenId: string
  readonly generation: number
  readonly userId: string
}

export interface RefreshTokens {
  format(content: RefreshTokenContent): string
  /**
   * Parses a refresh token. `null` for damaged text, other kinds of tokens and anything this server
   * did not make.
   */
  parse(text: string): RefreshTokenContent | null
}

const PREFIX = 'tgr_'
const SHAPE = /^tgr_([0-9a-f-]{36})\.(\d{1,9})\.([\w-]{1,1400})\.([\w-]{43})$/

/**
 * Formats and parses refresh tokens: `tgr_<row>.<generation>.<user>.<MAC>`. Refresh tokens are not
 * stored, not even as a hash: the row counts generations, and the MAC proves that this server made
 * the token. The server can therefore tell a damaged token from a reused one without keeping old
 * tokens, and return the same successor to a repeated request. The user id is included so that the
 * application can be asked about the user before the token is used up.
 */
export function createRefreshTokens(keyring: Pick<DerivedKeyring, 'macKeys'>): RefreshTokens {
  const keys = () => keyring.macKeys('refresh tokens')
  return {
    format({ tokenId, generation, userId }) {
      const [key] = keys()
      if (!key) throw new Error('There is no secret to make refresh tokens with')
      const content = `${tokenId}.${generation}.${Buffer.from(userId).toString('base64url')}`
      return `${PREFIX}${content}.${computeHmac(key, content)}`
    },
    parse(text) {
      const [, tokenId, generation, user, given] = SHAPE.exec(text) ?? []
      if (!tokenId || !generation || !user || !given) return null
      const content = text.slice(PREFIX.length, -given.length - 1)
      if (!keys().some((key) => areSecretsEqual(computeHmac(key, content), given))) return null
      const userId = Buffer.from(user, 'base64url').toString('utf8')
      return { tokenId, generation: Number(generation), userId }
    },
  }
}
