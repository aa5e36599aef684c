import type { BillingContext, ResumeOperation } from '../../core/context.ts'
import { isDefiniteFailure } from '../../core/errors/errors.ts'
import type { LockedOwner } from '../../core/locked-owner.ts'
import { finishOperation } from '../../core/operation.ts'
import type { StoredOperation } from '../../core/storage/operations.ts'
import { storeTaxTerms } from '../../core/tax.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import type { ProviderSubscription } from '../../providers/subscription.ts'
import { settleFirstPayment } from './settle-first-payment.ts'

/**
 * Completes the creation of a subscription that a crash interrupted: it exists at the provider, but
 * not in our database.
 */
export const resumeNewSubscription: ResumeOperation = async (context, locked, operation) => {
  const found = await findCreatedSubscription(context, locked, operation)
  if (!found) return
  await settleFirstPayment(context, locked, found.provider, found.made).catch((error) => {
    // A decline concerns only the caller of create(), which is gone.
    if (!isDefiniteFailure(error)) throw error
  })
  await finishOperation(context, locked, operation)
}

/** A subscription that an operation created, and its provider. */
export interface CreatedSubscription {
  readonly provider: ProviderName
  readonly made: ProviderSubscription
}

/**
 * Finds the subscription that an operation created at the provider. `null` if the request never
 * reached the provider. Also stores the tax of the subscription, as `create()` would have done.
 */
export async function findCreatedSubscription(
  context: BillingContext,
  locked: LockedOwner,
  operation: StoredOperation,
): Promise<CreatedSubscription | null> {
  const billed = await context.owners.find(locked.owner)
  const { provider, tax } = operation.request
  if (!billed?.providerId || !provider || billed.provider !== provider) return null
  const gateway = await locked.gateway(provider)
  const made = await gateway.findByOperation(operation, billed.providerId)
  if (!made) return null
  // The owner's id may have belonged to a different owner when the operation began.
  const customer = made.customerId ?? (await gateway.findCustomerId(made))
  if (customer !== null && customer !== billed.providerId) return null
  if (typeof tax === 'number') {
    await storeTaxTerms(context, locked, provider, { found: made, tax, lastChargeAt: null })
  }
  return { provider, made }
}
