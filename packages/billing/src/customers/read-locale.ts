import type { BillingContext } from '../context.ts'
import type { BilledOwner } from '../storage/tables.ts'

/** The language that the provider has for the customer; null where nobody said. */
export async function readLocale(
  context: BillingContext,
  { provider, providerId }: Pick<BilledOwner, 'provider' | 'providerId'>,
): Promise<string | null> {
  if (!provider || !providerId) return null
  const customer = await (await context.gateway(provider)).findCustomer(providerId)
  return customer?.locale ?? null
}
