import type Stripe from 'stripe'
import type { WantedItem } from '../../../contract/item.ts'

/** What a change that waits has found, and what it wants. */
export interface Remembered {
  /** The update that puts the tax back. */
  readonly before: TaxBefore
  /** The prices that there are once it is paid. */
  readonly wanted: readonly WantedItem[]
  readonly endsTrial: boolean
  /** When the trial was to end by itself, in seconds. Null without one. */
  readonly trialEnd: number | null
}

/** Of whatever changed, in the words of an update; all else is left alone. */
export interface TaxBefore
  extends Pick<Stripe.SubscriptionUpdateParams, 'automatic_tax' | 'default_tax_rates'> {
  readonly items?: readonly { readonly id: string; readonly tax_rates: string[] | '' }[]
}

/** As much as Stripe takes in one value. */
const VALUES = /.{1,500}/gsu

const KEY = /^tollgate_held_tax_(\d+)$/

/** The metadata that says so, in as many keys as it needs: one as a rule, six for twenty prices with a rate of their own each. */
export function write(metadata: Stripe.Metadata, remembered: Remembered): Stripe.Metadata {
  const parts = JSON.stringify(remembered).match(VALUES) ?? []
  const written = parts.map((part, at) => [`tollgate_held_tax_${at}`, part] as const)
  return { ...forget(metadata), ...Object.fromEntries(written) }
}

/** Null where there is nothing, or somebody has changed it so that it says nothing any more. */
export function read(metadata: Stripe.Metadata): Remembered | null {
  const numbered = keysOf(metadata).sort((a, b) => numberOf(a) - numberOf(b))
  try {
    const found = JSON.parse(numbered.map((key) => metadata[key]).join(''))
    const { before, wanted, endsTrial, trialEnd = null } = found
    return { before: { ...before }, wanted: [...wanted], endsTrial: endsTrial === true, trialEnd }
  } catch {
    return null
  }
}

/** Whether a change is no longer held, and what was remembered for it is still there. */
export function hasLapsed({ pending_update, metadata, status }: Stripe.Subscription): boolean {
  return pending_update === null && keysOf(metadata).length > 0 && status !== 'canceled'
}

/** The metadata of an update after which nothing of it is there. */
export function forget(metadata: Stripe.Metadata): Stripe.Metadata {
  return Object.fromEntries(keysOf(metadata).map((key) => [key, '']))
}

/** Stripe deletes a key whose value is empty: one that is still there says nothing. */
function keysOf(metadata: Stripe.Metadata): string[] {
  return Object.keys(metadata).filter((key) => KEY.test(key) && metadata[key] !== '')
}

function numberOf(key: string): number {
  return Number(KEY.exec(key)?.[1])
}
