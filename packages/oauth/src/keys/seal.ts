import { CompactEncrypt, compactDecrypt } from 'jose'
import { deriveKey } from '../crypto.ts'

export interface Seal {
  /** Encrypts a text with the first secret. */
  close(text: string): Promise<string>
  /** Decrypts a text with whichever secret encrypted it. `null` if none of them did. */
  open(sealed: string): Promise<string | null>
  /** Whether the text is encrypted with the first secret, so that the others can be removed. */
  isCurrent(sealed: string): Promise<boolean>
}

/** Encrypts stored data with a key derived from the server's secret. */
export function createSeal(secrets: readonly string[], purpose = 'signing keys'): Seal {
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
