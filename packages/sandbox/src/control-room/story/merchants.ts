import type { BraintreeContext } from '../../braintree/state/context.ts'
import type { CustomerRef, Watched } from './watched.ts'

/** A merchant at Braintree. */
export interface Merchant {
  /** The merchant's id. `null` if there is only one merchant. */
  readonly name: string | null
  readonly context: BraintreeContext
}

export function allMerchants({ braintree }: Watched): Merchant[] {
  const merchants = braintree?.merchants ?? []
  return merchants.map((context) => ({
    name: merchants.length > 1 ? context.keys.merchantId : null,
    context,
  }))
}

/** Finds a merchant by name, or the first one for `null`. Returns `null` if it does not exist. */
export function findMerchant(watched: Watched, name: string | null): Merchant | null {
  const merchants = allMerchants(watched)
  const found = merchants.find(({ context }) => context.keys.merchantId === name)
  return (name === null ? merchants[0] : found) ?? null
}

/**
 * Returns a provider and merchant as one path segment: `stripe`, `braintree` or `braintree.shop`.
 */
export function placeOf({
  provider,
  merchant,
}: Pick<CustomerRef, 'provider' | 'merchant'>): string {
  return merchant === null ? provider : `${provider}.${merchant}`
}

/** Parses a path segment of `placeOf`. Returns `null` if it is invalid. */
export function parsePlace(text: string): Pick<CustomerRef, 'provider' | 'merchant'> | null {
  if (text === 'stripe' || text === 'braintree') return { provider: text, merchant: null }
  const merchant = /^braintree\.([\w-]+)$/.exec(text)?.[1]
  return merchant === undefined ? null : { provider: 'braintree', merchant }
}
