import { requireRecord } from './change-subscription.ts'
import type { BillingContext } from './context.ts'
import { converge, lockName, type Owner, store } from './converge.ts'
import { ensureCustomer } from './customer.ts'
import { AlreadySubscribed, isFinal, PaymentFailed, type ProviderName } from './errors.ts'
import type { CustomerDetails, Gateway, ProviderSubscription } from './gateways/gateway.ts'
import { finishInterrupted } from './interrupted.ts'
import type { SubscriptionRecord, UserRecord } from './storage/tables.ts'
import { active, cancelled, ended } from './subscription-state.ts'
import { parseTaxPercentage } from './tax.ts'

export interface WantedSubscription {
  readonly provider: ProviderName
  readonly name: string
  readonly plan: string
  readonly quantity: number
  readonly coupon: string | null
  readonly trialDays: number | null
}

export interface Payer {
  readonly token: string | null
  readonly details: CustomerDetails
}

/** Customer, subscription, row: one caller of a user at a time, each step under a key of its own. */
export async function createSubscription(
  context: BillingContext,
  user: UserRecord,
  wanted: WantedSubscription,
  payer: Payer,
): Promise<SubscriptionRecord> {
  const tax = parseTaxPercentage(await context.options.taxPercentage({ ...user.attributes }))
  return context.locks.hold(lockName(user.id), async (lock) => {
    const owner: Owner = { userId: user.id, lock }
    await finishInterrupted(context, owner)
    const gateway = await context.gateway(wanted.provider)
    const existing = await findRunning(context, owner, wanted)
    if (existing) return existing
    const operation = await context.operations.begin(
      { userId: user.id, kind: 'subscription', request: { ...wanted }, name: wanted.name },
      context.options.clock.now(),
    )
    try {
      const customerId = await ensureCustomer(context, owner, {
        provider: wanted.provider,
        ...payer,
        operation: operation.id,
      })
      const made = await gateway.createSubscription({
        ...wanted,
        customerId,
        tax,
        operation: operation.id,
      })
      await settle(context, owner, gateway, made)
      await context.operations.finish(operation)
      return requireRecord(context, { provider: gateway.name, providerId: made.id })
    } catch (error) {
      if (isFinal(error)) await context.operations.finish(operation)
      throw error
    }
  })
}

/** Stores what came of it, then says so if it is not paid. A declined one is taken back. */
async function settle(
  context: BillingContext,
  owner: Owner,
  gateway: Gateway,
  made: ProviderSubscription,
): Promise<void> {
  await store(context, owner, gateway, made)
  try {
    await gateway.requirePaid(made)
  } catch (error) {
    if (error instanceof PaymentFailed) {
      await gateway.cancelNow(made.id)
      await converge(context, owner, { provider: gateway.name, providerId: made.id })
    }
    throw error
  }
}

/**
 * A second click, or a repeat of a create whose answer was lost, gets the subscription that is there.
 * Anything else under a name that is taken is an error: the customer would pay twice.
 */
async function findRunning(
  context: BillingContext,
  owner: Owner,
  wanted: WantedSubscription,
): Promise<SubscriptionRecord | null> {
  const { subscriptions, options } = context
  const row = await subscriptions.findByName(owner.userId, wanted.name)
  const now = options.clock.now()
  if (!row || ended(row, now)) return null
  const gateway = await context.gateway(row.provider)
  const found = await converge(context, owner, row)
  const record = await subscriptions.findByProvider(row.provider, row.providerId)
  if (!found || !record || ended(record, now)) return null
  const same =
    record.providerPlan === wanted.plan &&
    record.provider === wanted.provider &&
    record.quantity === wanted.quantity
  if (!same || cancelled(record)) {
    throw new AlreadySubscribed(
      cancelled(record)
        ? `'${wanted.name}' still runs until it ends: use resume() or swap()`
        : `There is a subscription '${wanted.name}' already: use swap()`,
    )
  }
  if (!active(record, now)) await gateway.requirePaid(found)
  return record
}
