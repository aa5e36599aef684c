import type { BillingContext } from '../../context.ts'
import type { ProviderSubscription } from '../../gateways/contract/subscription.ts'
import type { ProviderName } from '../../provider-name.ts'
import type { StoredOperation } from '../../storage/operations.ts'
import { keepTax } from '../keep-tax.ts'
import type { LockedOwner } from '../owner-lock.ts'

/** The subscription that an operation made, and where. */
export interface Made {
  readonly provider: ProviderName
  readonly made: ProviderSubscription
}

/** Null when it never reached the provider. The tax that it was made with is kept, as by whoever made it. */
export async function findMade(
  context: BillingContext,
  locked: LockedOwner,
  operation: StoredOperation,
): Promise<Made | null> {
  const billed = await context.owners.find(locked.owner)
  const { provider, tax } = operation.request
  if (!billed?.providerId || !provider || billed.provider !== provider) return null
  const gateway = await locked.gateway(provider)
  const made = await gateway.findByOperation(operation, billed.providerId)
  if (!made) return null
  // The owner's id may have belonged to another owner when this was begun.
  const customer = made.customerId ?? (await gateway.findOwner(made))
  if (customer !== null && customer !== billed.providerId) return null
  if (typeof tax === 'number') {
    await keepTax(context, locked, provider, { found: made, tax, lastChargeAt: null })
  }
  return { provider, made }
}
