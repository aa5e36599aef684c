import type { Provider } from '../providers/provider.ts'
import type { BillingContext } from './context.ts'
import { UnknownPrice } from './errors/errors.ts'
import type { ProviderName } from './values/provider-name.ts'

/**
 * Returns the provider with this name.
 * @throws TypeError if the provider is no longer configured, although a row still names it.
 */
export function requireProvider({ options }: BillingContext, name: ProviderName): Provider {
  const provider = options.providers.find(name)
  if (provider) return provider
  throw new TypeError(
    `A user is billed by ${name}, which is not configured: pass its options to createBilling()`,
  )
}

/**
 * Rejects a price that is not in the configured list of prices, before any request is sent. Does
 * nothing if no list is configured.
 * @throws UnknownPrice if the price is not in the list.
 */
export function requireKnownPrice({ name, prices }: Provider, price: string): void {
  if (!prices || prices.includes(price)) return
  throw new UnknownPrice(`'${price}' is not one of ${name}.prices: ${prices.join(', ')}`, {
    provider: name,
    providerCode: null,
  })
}
