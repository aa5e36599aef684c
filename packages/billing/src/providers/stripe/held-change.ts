import type Stripe from 'stripe'
import type { RequestedItem } from '../item.ts'

/**
 * The state of a subscription change that waits for its payment, which we store in Stripe's
 * metadata: how to restore the previous tax, and the prices after the payment.
 */
export interface PendingUpdateState {
  /** The update that restores the previous tax. */
  readonly before: PreviousTax
  /** The prices after the payment. */
  readonly wanted: readonly RequestedItem[]
  readonly endsTrial: boolean
  /** When the trial was planned to end, as a Unix time in seconds. `null` without a trial. */
  readonly trialEnd: number | null
}

/**
 * The tax values before the change, as parameters of an update that restores them. Values that did
 * not change are left out.
 */
export interface PreviousTax
  extends Pick<Stripe.SubscriptionUpdateParams, 'automatic_tax' | 'default_tax_rates'> {
  readonly items?: readonly { readonly id: string; readonly tax_rates: string[] | '' }[]
}

/** Stripe limits a metadata value to 500 characters. */
const VALUES = /.{1,500}/gsu

const KEY = /^tollgate_held_tax_(\d+)$/

/**
 * Returns metadata that contains the state of a waiting change, split over as many keys as needed:
 * usually one, but six for twenty prices with separate tax rates.
 */
export function writeUpdateState(
  metadata: Stripe.Metadata,
  updateState: PendingUpdateState,
): Stripe.Metadata {
  const parts = JSON.stringify(updateState).match(VALUES) ?? []
  const written = parts.map((part, at) => [`tollgate_held_tax_${at}`, part] as const)
  return { ...removeUpdateState(metadata), ...Object.fromEntries(written) }
}

/**
 * Reads the state of a waiting change from metadata. `null` if there is no waiting change, or if
 * its metadata was edited and is no longer valid.
 */
export function readUpdateState(metadata: Stripe.Metadata): PendingUpdateState | null {
  const numbered = keysOf(metadata).sort((a, b) => numberOf(a) - numberOf(b))
  try {
    const found = JSON.parse(numbered.map((key) => metadata[key]).join(''))
    const { before, wanted, endsTrial, trialEnd } = found
    return { before: { ...before }, wanted: [...wanted], endsTrial: endsTrial === true, trialEnd }
  } catch {
    return null
  }
}

/**
 * Whether a subscription change no longer waits for its payment, although its state is still stored
 * in the metadata.
 */
export function hasPendingUpdateLapsed({
  pending_update,
  metadata,
  status,
}: Stripe.Subscription): boolean {
  return pending_update === null && keysOf(metadata).length > 0 && status !== 'canceled'
}

/** Returns the metadata of an update that removes the state of a waiting change. */
export function removeUpdateState(metadata: Stripe.Metadata): Stripe.Metadata {
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
