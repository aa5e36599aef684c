import type { BillingContext } from '../../core/context.ts'
import { refreshSubscriptionRow } from '../../core/converge.ts'
import { isDefiniteFailure } from '../../core/errors/errors.ts'
import { findRunningSubscription, type RunningSubscription } from '../../core/find-running.ts'
import type { LockedOwner } from '../../core/locked-owner.ts'
import { beginOperation, finishOperation, runOperation } from '../../core/operation.ts'
import { resumeInterrupted, withOwnerLock } from '../../core/owner-lock.ts'
import type { OperationIntent } from '../../core/storage/operations.ts'
import type { BilledOwner, SubscriptionRecord } from '../../core/storage/tables.ts'
import { requireSubscriptionRecord } from '../../core/subscription-scope.ts'
import { readSubscriptionTax, storeTaxTerms } from '../../core/tax.ts'
import { awaitsFirstPayment, isSubscriptionActive } from '../../core/values/subscription-state.ts'
import type { ProviderPaymentMethod } from '../../providers/payment-method.ts'
import type { NewSubscription } from '../../providers/subscription.ts'
import { closeCheckouts } from '../checkout/close-checkouts.ts'
import { ensureCustomer } from '../customers/customer.ts'
import { requireTrialUnused, startsWithTrial } from '../trials/one-trial.ts'
import type { RequestedTerms } from './differing-terms.ts'
import { findDifferingTerms, requireSameTerms } from './same-terms.ts'
import { endUnpaidSubscription, settleFirstPayment } from './settle-first-payment.ts'
import type { ChosenTax, RequestedSubscription, SubscriptionPayer } from './wanted-terms.ts'

/**
 * Creates the subscription at the provider and in our database, and the customer if there is none.
 * Runs under the owner's lock, and each step has its own idempotency key, so that a repeated call
 * charges once.
 */
export async function createSubscription(
  context: BillingContext,
  billed: BilledOwner,
  requestedSubscription: RequestedSubscription,
  payer: SubscriptionPayer,
  chosen: ChosenTax,
): Promise<SubscriptionRecord> {
  const tax = await readSubscriptionTax(
    context,
    billed,
    requestedSubscription.price,
    chosen,
    (requestedSubscription.items ?? []).map(({ price }) => price),
  )
  const record = await withOwnerLock(context, billed.owner, async (locked) => {
    const asked = { wanted: requestedSubscription, tax: chosen }
    const begun = await resumeInterrupted(context, locked)
    await closeCheckouts(
      context,
      locked,
      begun.filter(({ name }) => name === requestedSubscription.name),
    )
    const before = await findRunningSubscription(context, locked, requestedSubscription.name)
    if (before && !awaitsFirstPayment(before.record)) {
      const method = await readMethod(locked, before, requestedSubscription, payer.token).catch(
        async (error) => {
          // Different terms are reported before an invalid token, because another token would not
          // help.
          if (isDefiniteFailure(error)) await requireSameTerms(context, before, asked)
          throw error
        },
      )
      return returnIfSameTerms(context, locked, before, { ...asked, method })
    }
    if (startsWithTrial(requestedSubscription)) await requireTrialUnused(context, locked, begun)
    const customerId = await ensureCustomer(context, locked, {
      provider: requestedSubscription.provider,
      ...payer,
      mayLackCard: requestedSubscription.withoutCard ?? false,
    })
    const paid =
      before && (await replaceUnpaidSubscription(context, locked, { ...before, asked, customerId }))
    // The customer has the given card by now, so only the other terms are compared.
    if (paid) return returnIfSameTerms(context, locked, paid, asked)
    const choice = chosen === null ? {} : { chosenTax: chosen }
    return createWithOperation(context, locked, {
      ...requestedSubscription,
      customerId,
      ...tax,
      ...choice,
    })
  })
  if (payer.token !== null) context.usage.wake(requestedSubscription.provider)
  return record
}

/**
 * Stores the operation before the request, so that a retry after a crash finds the same
 * subscription.
 */
async function createWithOperation(
  context: BillingContext,
  locked: LockedOwner,
  wanted: Omit<NewSubscription, 'operation'> & RequestedSubscription,
): Promise<SubscriptionRecord> {
  const { customerId: _customer, tax, ...same } = wanted
  const { provider, name } = wanted
  const request = { ...same, tax }
  const intent: OperationIntent = { owner: locked.owner, kind: 'subscription', request, same, name }
  const operation = await beginOperation(context, locked, intent)
  const made = await runOperation(context, locked, operation, async () => {
    const found = await locked.change(provider, (gateway) =>
      gateway.createSubscription({ ...wanted, operation: operation.id }),
    )
    await storeTaxTerms(context, locked, provider, { found, tax, lastChargeAt: null })
    await settleFirstPayment(context, locked, provider, found)
    return found
  })
  await finishOperation(context, locked, operation)
  return requireSubscriptionRecord(context, { provider, providerId: made.id })
}

/**
 * Returns the running subscription to a second click, or to a create() that is repeated after a
 * lost response.
 */
async function returnIfSameTerms(
  context: BillingContext,
  locked: LockedOwner,
  running: RunningSubscription,
  asked: RequestedTerms,
): Promise<SubscriptionRecord> {
  const { record, found } = running
  await requireSameTerms(context, running, asked)
  if (!isSubscriptionActive(record, context.options.clock.now())) {
    await (await locked.gateway(record.provider)).requirePaid(found)
  }
  return record
}

/**
 * Reads the payment method behind the token. The method itself is stored only when a subscription
 * is created.
 */
async function readMethod(
  locked: LockedOwner,
  { record, found }: RunningSubscription,
  { provider }: RequestedSubscription,
  token: string | null,
): Promise<ProviderPaymentMethod | null> {
  if (token === null || record.provider !== provider) return null
  const gateway = await locked.gateway(provider)
  const customerId = found.customerId ?? (await gateway.findCustomerId(found))
  return customerId === null ? null : gateway.readToken(customerId, token)
}

/**
 * A subscription whose first payment is missing, and the terms of the call that requests it again.
 */
export interface UnpaidSubscription extends RunningSubscription {
  readonly asked: RequestedTerms
  readonly customerId: string
}

/**
 * Handles a `create()` call if a subscription of this name exists whose first payment is missing.
 * If the card or the terms differ, ends that subscription, so that it cannot be paid later, and
 * returns `null`. If they are the same and the bank waits for the customer, throws
 * PaymentActionRequired for the same payment. If the subscription was paid in the meantime, in
 * another window, returns it.
 */
export async function replaceUnpaidSubscription(
  context: BillingContext,
  locked: LockedOwner,
  { asked, customerId, ...unpaid }: UnpaidSubscription,
): Promise<RunningSubscription | null> {
  const { record, found } = unpaid
  const gateway = await locked.gateway(record.provider)
  const isSame = (await findDifferingTerms(context, unpaid, asked)).length === 0
  if (isSame && (await gateway.confirmations?.isAwaiting(found, customerId))) {
    await gateway.requirePaid(found)
    return unpaid
  }
  await endUnpaidSubscription(locked, record.provider, found)
  await refreshSubscriptionRow(context, locked, record)
  return findRunningSubscription(context, locked, record.name)
}
