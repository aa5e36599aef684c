import { converge } from '../consistency/converge.ts'
import { keepTax } from '../consistency/keep-tax.ts'
import { finishInterrupted } from '../consistency/resume-interrupted.ts'
import { settleFirstPayment } from '../consistency/settle-first-payment.ts'
import { asOwner, type Owner } from '../consistency/user-lock.ts'
import type { BillingContext } from '../context.ts'
import { ensureCustomer } from '../customers/customer.ts'
import { AlreadySubscribed, isFinal, type ProviderName } from '../errors.ts'
import type {
  CustomerDetails,
  NewSubscription,
  ProviderSubscription,
} from '../gateways/contract/gateway.ts'
import type { Intent } from '../storage/operations.ts'
import type { SubscriptionRecord, UserRecord } from '../storage/tables.ts'
import { active, awaitsFirstPayment, cancelled, ended } from '../values/subscription-state.ts'
import { parseTaxPercentage } from '../values/tax.ts'
import { requireRecord } from './change.ts'
import { replaceUnpaid } from './replace-unpaid.ts'

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
  return asOwner(context, user.id, async (owner) => {
    await finishInterrupted(context, owner)
    const before = await findRunning(context, owner, wanted.name)
    if (before && !awaitsFirstPayment(before.record)) {
      return requireSame(context, owner, before, wanted)
    }
    const customerId = await ensureCustomer(context, owner, {
      provider: wanted.provider,
      ...payer,
    })
    const asked = { ...wanted, customerId }
    const paid = before && (await replaceUnpaid(context, owner, { ...before, wanted: asked }))
    if (paid) return requireSamePlan(paid, wanted)
    return make(context, owner, { ...asked, tax })
  })
}

/** On record before it is made, so that a repeat after a crash finds the same subscription. */
async function make(
  context: BillingContext,
  owner: Owner,
  wanted: Omit<NewSubscription, 'operation'> & WantedSubscription,
): Promise<SubscriptionRecord> {
  const { operations, options } = context
  const { lock } = owner
  const gateway = await owner.gateway(wanted.provider)
  const { customerId: _customer, tax, ...same } = wanted
  const intent: Intent = {
    userId: owner.userId,
    kind: 'subscription',
    request: { ...same, tax },
    same,
    name: wanted.name,
  }
  const operation = await lock.write((tx) => operations.begin(intent, options.clock.now(), tx))
  try {
    const made = await gateway.createSubscription({ ...wanted, operation: operation.id })
    await keepTax(context, owner, gateway.name, { found: made, tax, lastChargeAt: null })
    await settleFirstPayment(context, owner, gateway, made)
    await lock.write((tx) => operations.finish(operation, tx))
    return await requireRecord(context, { provider: gateway.name, providerId: made.id })
  } catch (error) {
    if (isFinal(error)) await lock.write((tx) => operations.finish(operation, tx))
    throw error
  }
}

interface Running {
  readonly record: SubscriptionRecord
  readonly found: ProviderSubscription
}

/** The newest of that name as the provider has it now; null when there is none, or it is over. */
async function findRunning(
  context: BillingContext,
  owner: Owner,
  name: string,
): Promise<Running | null> {
  const { subscriptions, options } = context
  const row = await subscriptions.findByName(owner.userId, name)
  const now = options.clock.now()
  if (!row || ended(row, now)) return null
  const found = await converge(context, owner, row)
  const record = await subscriptions.findByProvider(row.provider, row.providerId)
  return found && record && !ended(record, now) ? { record, found } : null
}

/**
 * A second click, or a repeat of a create whose answer was lost, gets the subscription that is there.
 * Anything else under a name that is taken is an error: the customer would pay twice.
 */
async function requireSame(
  context: BillingContext,
  owner: Owner,
  { record, found }: Running,
  wanted: WantedSubscription,
): Promise<SubscriptionRecord> {
  requireSamePlan(record, wanted)
  if (!active(record, context.options.clock.now())) {
    await (await owner.gateway(record.provider)).requirePaid(found)
  }
  return record
}

function requireSamePlan(
  record: SubscriptionRecord,
  wanted: WantedSubscription,
): SubscriptionRecord {
  const same =
    record.providerPlan === wanted.plan &&
    record.provider === wanted.provider &&
    record.quantity === wanted.quantity
  if (same && !cancelled(record)) return record
  throw new AlreadySubscribed(
    cancelled(record)
      ? `'${wanted.name}' still runs until it ends: use resume() or swap()`
      : `There is a subscription '${wanted.name}' already: use swap()`,
  )
}
