import type Stripe from 'stripe'
import type { WantedItem } from '../item.ts'

/** State of a change that waits for its payment: what it replaced, and what it will change. */
export interface HeldChange {
  /** The update that restores the previous tax. */
  readonly before: TaxBefore
  /** The prices after the payment. */
  readonly wanted: readonly WantedItem[]
  readonly endsTrial: boolean
  /** When the trial was to end by itself, in seconds. `null` without a trial. */
  readonly trialEnd: number | null
}

/** The changed tax values, as parameters of an update. Unchanged values are left out. */
export interface TaxBefore
  extends Pick<Stripe.SubscriptionUpdateParams, 'automatic_tax' | 'default_tax_rates'> {
  readonly items?: readonly { readonly id: string; readonly tax_rates: string[] | '' }[]
}

/** Stripe limits a metadata value to 500 characters. */
const VALUES = /.{1,500}/gsu

const KEY = /^tollgate_held_tax_(\d+)$/

/**
 * Returns metadata with the state, split over as many keys as needed: usually one, six for twenty
 * prices with separate tax rates.
 */
export function write(metadata: Stripe.Metadata, remembered: HeldChange): Stripe.Metadata {
  const parts = JSON.stringify(remembered).match(VALUES) ?? []
  const written = parts.map((part, at) => [`tollgate_held_tax_${at}`, part] as const)
  return { ...forget(metadata), ...Object.fromEntries(written) }
}

/**
 * Reads the state from metadata. `null` if there is none, or it was edited and is no longer valid.
 */
export function read(metadata: Stripe.Metadata): HeldChange | null {
  const numbered = keysOf(metadata).sort((a, b) => numberOf(a) - numberOf(b))
  try {
    const found = JSON.parse(numbered.map((key) => metadata[key]).join(''))
    const { before, wanted, endsTrial, trialEnd = null } = found
    return { before: { ...before }, wanted: [...wanted], endsTrial: endsTrial === true, trialEnd }
  } catch {
    return null
  }
}

/** Whether a change no longer waits for its payment, although its state is still stored. */
export function hasLapsed({ pending_update, metadata, status }: Stripe.Subscription): boolean {
  return pending_update === null && keysOf(metadata).length > 0 && status !== 'canceled'
}

/** Returns metadata for an update that removes the state. */
export function forget(metadata: Stripe.Metadata): Stripe.Metadata {
  return Object.fromEntries(keysOf(metadata).map((key) => [key, '']))
}

/**
 * Lists the keys of the state. Stripe deletes keys with an empty value, so keys that are still
 * there but empty do not count.
 */
function keysOf(metadata: Stripe.Metadata): string[] {
  return Object.keys(metadata).filter((key) => KEY.test(key) && metadata[key] !== '')
}

function numberOf(key: string): number {
  return Number(KEY.exec(key)?.[1])
}
