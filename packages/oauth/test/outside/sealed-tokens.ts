import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { AccessTokenFormat } from '@tollgate/oauth'

const PREFIX = 'sealed.'

/**
 * Creates a token format with encrypted claims: only the holder of the key can read which user a
 * token is for.
 */
export function sealedTokens(key: Buffer): AccessTokenFormat {
  return {
    recognizes: (text) => text.startsWith(PREFIX),
    encode(claims) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      const sealed = cipher.update(JSON.stringify(claims))
      cipher.final()
      const bytes = Buffer.concat([nonce, cipher.getAuthTag(), sealed])
      return PREFIX + bytes.toString('base64url')
    },
    decode(text) {
      const bytes = Buffer.from(text.slice(PREFIX.length), 'base64url')
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12))
        decipher.setAuthTag(bytes.subarray(12, 28))
        const opened = decipher.update(bytes.subarray(28))
        decipher.final()
        return JSON.parse(opened.toString('utf8'))
      } catch {
        return null
      }
    },
  }
}
