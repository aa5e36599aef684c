import { CompactEncrypt, compactDecrypt } from 'jose'
import { deriveKey } from '../crypto.ts'

export interface TextEncrypter {
  /** Encrypts a text with a key derived from the first of the server's secrets. */
  close(text: string): Promise<string>
  /**
   * Decrypts a text that was encrypted with any of the server's secrets. `null` if it was not
   * encrypted with one of them.
   */
  open(sealed: string): Promise<string | null>
  /**
   * Whether a text is encrypted with the first of the server's secrets, so that it stays readable
   * if the others are removed.
   */
  isCurrent(sealed: string): Promise<boolean>
}

/**
 * Creates functions that encrypt and decrypt stored texts with keys derived from the server's
 * secrets. Each `purpose` has its own keys.
 */
export function createEncrypter(
  secrets: readonly string[],
  purpose = 'signing keys',
): TextEncrypter {
  const keys = secrets.map((secret) => deriveKey(secret, purpose))
  const [current] = keys
  if (!current) throw new Error('There is no secret to seal keys with')
  return {
    close: (text) =>
      new CompactEncrypt(new TextEncoder().encode(text))
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
        .encrypt(current),
    async open(sealed) {
      for (const key of keys) {
        const text = await decrypt(sealed, key)
        if (text !== null) return text
      }
      return null
    },
    isCurrent: async (sealed) => (await decrypt(sealed, current)) !== null,
  }
}

async function decrypt(sealed: string, key: Buffer): Promise<string | null> {
  try {
    const { plaintext } = await compactDecrypt(sealed, key)
    return new TextDecoder().decode(plaintext)
  } catch {
    return null
  }
}
