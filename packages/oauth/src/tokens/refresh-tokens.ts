import { deriveKey, equalSecrets, hmac } from '../crypto.ts'

/** What a genuine refresh token says: which row, and which generation of it. */
export interface RefreshTokenContent {
  readonly tokenId: string
  readonly generation: number
}

export interface RefreshTokens {
  format(content: RefreshTokenContent): string
  /** Null for anything we did not make: garbage, damage, another kind of token. */
  parse(text: string): RefreshTokenContent | null
}

const PREFIX = 'tgr_'
const SHAPE = /^tgr_([0-9a-f-]{36})\.(\d{1,9})\.([\w-]{43})$/

/**
 * A refresh token is `tgr_<row>.<generation>.<MAC>`. Nothing of it is stored, not even a hash: the
 * row counts generations and the MAC proves that we made it. So damage is told from reuse without
 * keeping old tokens, and a repeated request can be given the same successor again.
 */
export function createRefreshTokens(secrets: readonly string[]): RefreshTokens {
  const keys = secrets.map((secret) => deriveKey(secret, 'refresh tokens'))
  const mac = (key: Buffer, content: string) => hmac(key, content)
  return {
    format({ tokenId, generation }) {
      const content = `${tokenId}.${generation}`
      const [key] = keys
      if (!key) throw new Error('There is no secret to make refresh tokens with')
      return `${PREFIX}${content}.${mac(key, content)}`
    },
    parse(text) {
      const [, tokenId, generation, given] = SHAPE.exec(text) ?? []
      if (!tokenId || !generation || !given) return null
      const content = `${tokenId}.${generation}`
      if (!keys.some((key) => equalSecrets(mac(key, content), given))) return null
      return { tokenId, generation: Number(generation) }
    },
  }
}
