import { requireRecord } from './change-subscription.ts'
import type { BillingContext } from './context.ts'
import { converge } from './converge.ts'
import { ensureCustomer } from './customer.ts'
import { AlreadySubscribed, isFinal, type ProviderName } from './errors.ts'
import type { CustomerDetails } from './gateways/gateway.ts'
import { finishInterrupted } from './interrupted.ts'
import { asOwner, type Owner } from './owner.ts'
import { settleFirstPayment } from './settle-first-payment.ts'
import type { Intent } from './storage/operations.ts'
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
  const { operations, options } = context
  return asOwner(context, user.id, async (owner) => {
    const { lock } = owner
    await finishInterrupted(context, owner)
    const gateway = await owner.gateway(wanted.provider)
    const existing = await findRunning(context, owner, wanted)
    if (existing) return existing
    const intent: Intent = {
      userId: user.id,
      kind: 'subscription',
      request: { ...wanted },
      name: wanted.name,
    }
    const operation = await lock.write((tx) => operations.begin(intent, options.clock.now(), tx))
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
      await settleFirstPayment(context, owner, gateway, made)
      await lock.write((tx) => operations.finish(operation, tx))
      return requireRecord(context, { provider: gateway.name, providerId: made.id })
    } catch (error) {
      if (isFinal(error)) await lock.write((tx) => operations.finish(operation, tx))
      throw error
    }
  })
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
  const gateway = await owner.gateway(row.provider)
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
