import { CompactEncrypt, compactDecrypt } from 'jose'
import { deriveKey } from '../crypto.ts'

export interface Seal {
  /** With the secret that is used for what is made now. */
  close(text: string): Promise<string>
  /** With whichever of the secrets closed it; null when none did. */
  open(sealed: string): Promise<string | null>
  /** Whether the first of the secrets opens it, so the others may go. */
  isCurrent(sealed: string): Promise<boolean>
}

/** Encrypts what is stored with a key of its own, derived from the server's secret. */
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
