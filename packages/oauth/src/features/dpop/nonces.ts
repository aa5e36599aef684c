import type { ServerContext } from '../../context.ts'
import { areSecretsEqual, computeHmac, deriveMacKey, type MacKey } from '../../crypto.ts'

/**
 * Length of a time slot for DPoP nonces, in milliseconds. A nonce is valid in the slot in which it
 * was made and in the next one.
 */
export const NONCE_SLOT_MS = 5 * 60_000

const SHAPE = /^([0-9a-z]{1,12})\.([\w-]{43})$/

export interface DpopNonces {
  /** Returns the nonce that new DPoP proofs must contain. */
  current(context: ServerContext): string
  /**
   * Returns when the nonce expires, in milliseconds. `null` if it is not from this server or too
   * old.
   */
  endOf(nonce: string, context: ServerContext): number | null
}

/**
 * Creates and checks the nonces of DPoP proofs (RFC 9449 §8). A nonce consists of the number of a
 * time slot and its MAC. Nothing is stored, and all processes with the same secret accept it.
 */
export function createDpopNonces(): DpopNonces {
  const keys = new WeakMap<object, readonly MacKey[]>()

  /**
   * Derives one key from each configured secret. Keys of removed secrets are not needed, because
   * nonces expire soon after a secret is replaced.
   */
  function keysOf({ options }: ServerContext): readonly MacKey[] {
    const known = keys.get(options)
    if (known) return known
    const derived = options.secrets.map((secret) => deriveMacKey(secret, 'dpop nonces'))
    keys.set(options, derived)
    return derived
  }

  const macOf = (key: MacKey, slot: string, { issuer }: ServerContext) =>
    computeHmac(key, `${issuer}\n${slot}`)

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
      // A nonce of the next slot comes from a process whose clock is ahead.
      if (age < -1 || age > 1) return null
      const isOurs = keysOf(context).some((key) =>
        areSecretsEqual(macOf(key, slot, context), given),
      )
      return isOurs ? (Number.parseInt(slot, 36) + 2) * NONCE_SLOT_MS : null
    },
  }
}

function slotOf({ clock }: ServerContext): number {
  return Math.floor(clock.now().getTime() / NONCE_SLOT_MS)
}
