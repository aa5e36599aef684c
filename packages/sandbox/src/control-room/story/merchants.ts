import type { BraintreeContext } from '../../braintree/state/context.ts'
import type { CustomerRef, ObservedSandbox } from './observed-sandbox.ts'

/** A merchant of the sandbox's Braintree. */
export interface SandboxMerchant {
  /** Id of the merchant. `null` if the sandbox has only one merchant. */
  readonly name: string | null
  readonly context: BraintreeContext
}

export function listMerchants({ braintree }: ObservedSandbox): SandboxMerchant[] {
  const merchants = braintree?.merchants ?? []
  return merchants.map((context) => ({
    name: merchants.length > 1 ? context.keys.merchantId : null,
    context,
  }))
}

/**
 * Finds a merchant by its id, or the first merchant for `null`. Returns `null` if there is none
 * with this id.
 */
export function findMerchant(
  sandbox: ObservedSandbox,
  name: string | null,
): SandboxMerchant | null {
  const merchants = listMerchants(sandbox)
  const found = merchants.find(({ context }) => context.keys.merchantId === name)
  return (name === null ? merchants[0] : found) ?? null
}

/**
 * Returns the provider and merchant of a customer as one path segment: `stripe`, `braintree` or
 * `braintree.shop`.
 */
export function formatProviderAndMerchant({
  provider,
  merchant,
}: Pick<CustomerRef, 'provider' | 'merchant'>): string {
  return merchant === null ? provider : `${provider}.${merchant}`
}

/**
 * Parses a path segment such as `stripe`, `braintree` or `braintree.shop` to a provider and
 * merchant. Returns `null` if it is invalid.
 */
export function parseProviderAndMerchant(
  text: string,
): Pick<CustomerRef, 'provider' | 'merchant'> | null {
  if (text === 'stripe' || text === 'braintree') return { provider: text, merchant: null }
  const merchant = /^braintree\.([\w-]+)$/.exec(text)?.[1]
  return merchant === undefined ? null : { provider: 'braintree', merchant }
}
