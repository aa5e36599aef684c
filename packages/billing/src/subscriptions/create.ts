import { closeCheckouts } from '../consistency/close-checkouts.ts'
import { findRunning, type Running } from '../consistency/find-running.ts'
import { keepTax } from '../consistency/keep-tax.ts'
import { attempt, begin, finish } from '../consistency/operation.ts'
import { type LockedOwner, withOwnerLock } from '../consistency/owner-lock.ts'
import { resumeInterrupted } from '../consistency/resume-interrupted.ts'
import { settleFirstPayment } from '../consistency/settle-first-payment.ts'
import type { BillingContext } from '../context.ts'
import { ensureCustomer } from '../customers/customer.ts'
import { hasTrial, requireTrialLeft } from '../customers/one-trial.ts'
import { readSubscriptionTax } from '../customers/read-tax.ts'
import { AlreadySubscribed } from '../errors.ts'
import type { CustomerDetails } from '../gateways/contract/customer.ts'
import type { WantedItem } from '../gateways/contract/item.ts'
import type { NewSubscription, StartTerms } from '../gateways/contract/subscription.ts'
import type { TaxSource } from '../options.ts'
import type { ProviderName } from '../provider-name.ts'
import type { Intent } from '../storage/operations.ts'
import type { BilledOwner, SubscriptionRecord } from '../storage/tables.ts'
import { active, awaitsFirstPayment, cancelled } from '../values/subscription-state.ts'
import { requireRecord } from './change.ts'
import { replaceUnpaid } from './replace-unpaid.ts'

export interface WantedSubscription extends StartTerms {
  readonly provider: ProviderName
  readonly name: string
  readonly plan: string
  readonly quantity: number
  readonly coupon: string | null
  readonly trialDays: number | null
  /** In place of days. */
  readonly trialEndsAt?: Date
  /** Beside the plan. */
  readonly items?: readonly WantedItem[]
  /** Whether it may begin without a card. */
  readonly withoutCard?: boolean
  /** Whether usage of the plan itself is counted. */
  readonly isMetered?: boolean
}

/** How it is taxed; null as the option says. */
export type ChosenTax = TaxSource | null

export interface Payer {
  readonly token: string | null
  readonly details: CustomerDetails
}

/** Customer, subscription, row: one caller of an owner at a time, each step under a key of its own. */
export async function createSubscription(
  context: BillingContext,
  billed: BilledOwner,
  wanted: WantedSubscription,
  payer: Payer,
  chosen: ChosenTax,
): Promise<SubscriptionRecord> {
  const tax = await readSubscriptionTax(
    context,
    billed,
    wanted.plan,
    chosen,
    (wanted.items ?? []).map(({ price }) => price),
  )
  const record = await withOwnerLock(context, billed.owner, async (locked) => {
    const begun = await resumeInterrupted(context, locked)
    await closeCheckouts(
      context,
      locked,
      begun.filter(({ name }) => name === wanted.name),
    )
    const before = await findRunning(context, locked, wanted.name)
    if (before && !awaitsFirstPayment(before.record)) {
      return requireSame(context, locked, before, wanted)
    }
    if (hasTrial(wanted)) await requireTrialLeft(context, locked, begun)
    const customerId = await ensureCustomer(context, locked, {
      provider: wanted.provider,
      ...payer,
      mayLackCard: wanted.withoutCard ?? false,
    })
    const asked = { ...wanted, customerId }
    const paid = before && (await replaceUnpaid(context, locked, { ...before, wanted: asked }))
    if (paid) return requireSamePlan(paid, wanted)
    const choice = chosen === null ? {} : { chosenTax: chosen }
    return make(context, locked, { ...asked, ...tax, ...choice })
  })
  if (payer.token !== null) context.usage.wake(wanted.provider)
  return record
}

/** On record before it is made: a repeat after a crash finds the same subscription. */
async function make(
  context: BillingContext,
  locked: LockedOwner,
  wanted: Omit<NewSubscription, 'operation'> & WantedSubscription,
): Promise<SubscriptionRecord> {
  const { customerId: _customer, tax, ...same } = wanted
  const { provider, name } = wanted
  const request = { ...same, tax }
  const intent: Intent = { owner: locked.owner, kind: 'subscription', request, same, name }
  const operation = await begin(context, locked, intent)
  const made = await attempt(context, locked, operation, async () => {
    const found = await locked.change(provider, (gateway) =>
      gateway.createSubscription({ ...wanted, operation: operation.id }),
    )
    await keepTax(context, locked, provider, { found, tax, lastChargeAt: null })
    await settleFirstPayment(context, locked, provider, found)
    return found
  })
  await finish(context, locked, operation)
  return requireRecord(context, { provider, providerId: made.id })
}

/**
 * A second click, or a repeat of a create whose answer was lost, gets the subscription that is there.
 * Anything else under a name that is taken is an error: the customer would pay twice.
 */
async function requireSame(
  context: BillingContext,
  locked: LockedOwner,
  { record, found }: Running,
  wanted: WantedSubscription,
): Promise<SubscriptionRecord> {
  requireSamePlan(record, wanted)
  if (!active(record, context.options.clock.now())) {
    await (await locked.gateway(record.provider)).requirePaid(found)
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
    record.quantity === wanted.quantity &&
    (wanted.items ?? []).every(({ price, quantity }) =>
      record.items.some((item) => item.price === price && item.quantity === quantity),
    )
  if (same && !cancelled(record)) return record
  throw new AlreadySubscribed(
    cancelled(record)
      ? `'${wanted.name}' still runs until it ends: use resume() or swap()`
      : `There is a subscription '${wanted.name}' already: use swap()`,
  )
}
