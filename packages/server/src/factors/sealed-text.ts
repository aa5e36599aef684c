import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

/** Encrypts short texts with keys derived from the secrets of the service. */
export interface TextSealer {
  /** Encrypts a text with the first secret. `context` must be the same on opening. */
  close(text: string, context: string): string
  /** Decrypts a text. `null` if no secret fits, or the text belongs to another context. */
  open(sealed: string, context: string): string | null
  /** Whether the text is encrypted with the first secret. */
  isCurrent(sealed: string, context: string): boolean
}

const NONCE = 12
const TAG = 16

/**
 * Creates functions that encrypt and decrypt short texts (AES-256-GCM). Each `purpose` has its own
 * keys.
 */
export function createSealer(secrets: readonly string[], purpose: string): TextSealer {
  const keys = secrets.map((secret) =>
    Buffer.from(hkdfSync('sha256', secret, 'tollgate', purpose, 32)),
  )
  const [current] = keys
  if (!current) throw new TypeError('There is no secret to encrypt with')

  function decrypt(key: Buffer, sealed: string, context: string): string | null {
    const bytes = Buffer.from(sealed, 'base64url')
    if (bytes.length < NONCE + TAG) return null
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE), {
      authTagLength: TAG,
    })
    decipher.setAAD(Buffer.from(context))
    decipher.setAuthTag(bytes.subarray(-TAG))
    try {
      const text = decipher.update(bytes.subarray(NONCE, -TAG))
      return Buffer.concat([text, decipher.final()]).toString('utf8')
    } catch {
      return null
    }
  }

  return {
    close(text, context) {
      const nonce = randomBytes(NONCE)
      const cipher = createCipheriv('aes-256-gcm', current, nonce, { authTagLength: TAG })
      cipher.setAAD(Buffer.from(context))
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, body, cipher.getAuthTag()]).toString('base64url')
    },
    open(sealed, context) {
      for (const key of keys) {
        const text = decrypt(key, sealed, context)
        if (text !== null) return text
      }
      return null
    },
    isCurrent: (sealed, context) => decrypt(current, sealed, context) !== null,
  }
}
