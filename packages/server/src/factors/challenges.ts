import { createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import { type Clock, kyselyStorage } from '@tollgate/oauth'
import type { ServiceDatabase } from '../storage/tables.ts'

/**
 * Challenges for passkeys. A challenge carries its own expiry and a signature, so that showing a
 * page writes nothing; each is accepted once.
 */
export interface Challenges {
  /** Creates a challenge that only `use()` with the same `binding` accepts. */
  create(binding: string): Uint8Array<ArrayBuffer>
  /**
   * Uses up a challenge, in base64url. `false` if it is forged, expired, was used before, or
   * belongs to another binding.
   */
  use(challenge: string, binding: string): Promise<boolean>
}

const LIFETIME = 60 * 60_000
const NONCE = 16
const TIME = 6
const TAG = 32

export function createChallenges(options: {
  readonly database: ServiceDatabase
  readonly clock: Clock
  readonly secrets: readonly string[]
}): Challenges {
  const { clock } = options
  const { tickets } = kyselyStorage(options.database)
  const keys = options.secrets.map((secret) =>
    Buffer.from(hkdfSync('sha256', secret, 'tollgate', 'passkey challenges', 32)),
  )
  const sign = (key: Buffer, signed: Uint8Array, binding: string) =>
    createHmac('sha256', key).update(signed).update(binding).digest()

  return {
    create(binding) {
      const [key] = keys
      if (!key) throw new TypeError('There is no secret to sign with')
      const signed = Buffer.alloc(NONCE + TIME)
      randomBytes(NONCE).copy(signed)
      signed.writeUIntBE(clock.now().getTime() + LIFETIME, NONCE, TIME)
      return new Uint8Array(Buffer.concat([signed, sign(key, signed, binding)]))
    },
    async use(challenge, binding) {
      const bytes = Buffer.from(challenge, 'base64url')
      if (bytes.length !== NONCE + TIME + TAG) return false
      const signed = bytes.subarray(0, NONCE + TIME)
      const tag = bytes.subarray(NONCE + TIME)
      if (!keys.some((key) => timingSafeEqual(tag, sign(key, signed, binding)))) return false
      const expiresAt = new Date(signed.readUIntBE(NONCE, TIME))
      if (expiresAt <= clock.now()) return false
      const hash = createHash('sha256').update('passkey challenge\n').update(bytes)
      // Only one process can insert the ticket.
      return tickets.add({
        hash: hash.digest('base64url'),
        kind: 'passkey challenge',
        content: '{}',
        expiresAt,
        holder: null,
      })
    },
  }
}
