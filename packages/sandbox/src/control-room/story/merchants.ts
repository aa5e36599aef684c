import type { BraintreeContext } from '../../braintree/state/context.ts'
import type { Watched, Who } from './watched.ts'

/** A merchant of Braintree. */
export interface Merchant {
  /** Null where there is only one: nobody needs to be told. */
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

/** The one of that name, the first where none is named; null where there is none. */
export function findMerchant(watched: Watched, name: string | null): Merchant | null {
  const merchants = allMerchants(watched)
  const found = merchants.find(({ context }) => context.keys.merchantId === name)
  return (name === null ? merchants[0] : found) ?? null
}

/** Where a customer is, in one word of a path: `stripe`, `braintree`, `braintree.shop`. */
export function placeOf({ provider, merchant }: Pick<Who, 'provider' | 'merchant'>): string {
  return merchant === null ? provider : `${provider}.${merchant}`
}

/** The other way round; null for what is no place. */
export function parsePlace(text: string): Pick<Who, 'provider' | 'merchant'> | null {
  if (text === 'stripe' || text === 'braintree') return { provider: text, merchant: null }
  const merchant = /^braintree\.([\w-]+)$/.exec(text)?.[1]
  return merchant === undefined ? null : { provider: 'braintree', merchant }
}
