import type { ServerContext } from '../../context.ts'
import { deriveMacKey, equalSecrets, hmac, type MacKey } from '../../crypto.ts'

/** In milliseconds. A nonce is good in the slot it was made in and in the next. */
export const NONCE_SLOT = 5 * 60_000

const SHAPE = /^([0-9a-z]{1,12})\.([\w-]{43})$/

export interface Nonces {
  /** What a proof has to carry from now on. */
  current(context: ServerContext): string
  /** When it ends, in milliseconds; null for one that is not ours, or too old. */
  endOf(nonce: string, context: ServerContext): number | null
}

/**
 * RFC 9449 §8. A nonce is a number of the time and its MAC: nothing is stored, and what one process has made
 * is good at all that share the secret. It changes with the time, so a proof cannot be made long before.
 */
export function createNonces(): Nonces {
  const keys = new WeakMap<object, readonly MacKey[]>()

  /** Of a secret that is being replaced as well. They live too short to be kept beyond it. */
  function keysOf({ options }: ServerContext): readonly MacKey[] {
    const known = keys.get(options)
    if (known) return known
    const derived = options.secrets.map((secret) => deriveMacKey(secret, 'dpop nonces'))
    keys.set(options, derived)
    return derived
  }

  const macOf = (key: MacKey, slot: string, { issuer }: ServerContext) =>
    hmac(key, `${issuer}\n${slot}`)

  return {
    current(context) {
      const [key] = keysOf(context)
      if (!key) throw new Error('There is no secret to make nonces with')
      const slot = slotOf(context).toString(36)
      return `${slot}.${macOf(key, slot, context)}`
    },
    endOf(nonce, context) {
      const [, slot, given] = SHAPE.exec(nonce) ?? []
      if (!slot || !given) return null
      const age = slotOf(context) - Number.parseInt(slot, 36)
      // One of the next slot comes from a process whose clock is ahead.
      if (age < -1 || age > 1) return null
      const isOurs = keysOf(context).some((key) => equalSecrets(macOf(key, slot, context), given))
      return isOurs ? (Number.parseInt(slot, 36) + 2) * NONCE_SLOT : null
    },
  }
}

function slotOf({ clock }: ServerContext): number {
  return Math.floor(clock.now().getTime() / NONCE_SLOT)
}
