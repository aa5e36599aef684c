import type { BillingContext } from '../context.ts'
import { UnknownPlan } from '../errors.ts'
import type { Provider } from '../gateways/contract/provider.ts'
import type { ProviderName } from '../provider-name.ts'

/** A user or a row may still name one that the application no longer configures. */
export function requireProvider({ options }: BillingContext, name: ProviderName): Provider {
  const provider = options.providers.find(name)
  if (provider) return provider
  throw new TypeError(`A user pays through ${name}, which is not configured`)
}

/** Where the application names its plans, any other is refused before a call is made. */
export function requireKnownPlan({ name, plans }: Provider, plan: string): void {
  if (!plans || plans.includes(plan)) return
  throw new UnknownPlan(`'${plan}' is none of ${name}.plans: ${plans.join(', ')}`, {
    provider: name,
    providerCode: null,
  })
}
