import { equalSecrets, hmac } from '../../crypto.ts'
import type { Keyring } from '../../keys/keyring.ts'

/** What a genuine refresh token says: which row, which generation of it, and whose. */
export interface RefreshTokenContent {
  readonly tokenId: string
  readonly generation: number
  readonly userId: string
}

export interface RefreshTokens {
  format(content: RefreshTokenContent): string
  /** Null for anything we did not make: garbage, damage, another kind of token. */
  parse(text: string): RefreshTokenContent | null
}

const PREFIX = 'tgr_'
const SHAPE = /^tgr_([0-9a-f-]{36})\.(\d{1,9})\.([\w-]{1,1400})\.([\w-]{43})$/

/**
 * A refresh token is `tgr_<row>.<generation>.<user>.<MAC>`. Nothing of it is stored, not even a hash:
 * the row counts generations and the MAC proves that we made it. So damage is told from reuse without
 * keeping old tokens, and a repeated request can be given the same successor again. The user is named
 * so that the application can be asked about them before the token is used up.
 */
export function createRefreshTokens(keyring: Pick<Keyring, 'macKeys'>): RefreshTokens {
  const keys = () => keyring.macKeys('refresh tokens')
  return {
    format({ tokenId, generation, userId }) {
      const [key] = keys()
      if (!key) throw new Error('There is no secret to make refresh tokens with')
      const content = `${tokenId}.${generation}.${Buffer.from(userId).toString('base64url')}`
      return `${PREFIX}${content}.${hmac(key, content)}`
    },
    parse(text) {
      const [, tokenId, generation, user, given] = SHAPE.exec(text) ?? []
      if (!tokenId || !generation || !user || !given) return null
      const content = text.slice(PREFIX.length, -given.length - 1)
      if (!keys().some((key) => equalSecrets(hmac(key, content), given))) return null
      const userId = Buffer.from(user, 'base64url').toString('utf8')
      return { tokenId, generation: Number(generation), userId }
    },
  }
}
