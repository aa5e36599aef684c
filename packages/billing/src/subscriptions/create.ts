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
import { isFinal } from '../errors.ts'
import type { ProviderMethod } from '../gateways/contract/parts/pages/payment-methods.ts'
import type { NewSubscription } from '../gateways/contract/subscription.ts'
import type { Intent } from '../storage/operations.ts'
import type { BilledOwner, SubscriptionRecord } from '../storage/tables.ts'
import { active, awaitsFirstPayment } from '../values/subscription-state.ts'
import { requireRecord } from './change.ts'
import { replaceUnpaid } from './replace-unpaid.ts'
import type { AskedTerms } from './terms/differing-terms.ts'
import { requireSameTerms } from './terms/same-terms.ts'
import type { ChosenTax, Payer, WantedSubscription } from './terms/wanted.ts'

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
    const asked = { wanted, tax: chosen }
    const begun = await resumeInterrupted(context, locked)
    await closeCheckouts(
      context,
      locked,
      begun.filter(({ name }) => name === wanted.name),
    )
    const before = await findRunning(context, locked, wanted.name)
    if (before && !awaitsFirstPayment(before.record)) {
      const method = await readMethod(locked, before, wanted, payer.token).catch(async (error) => {
        // Other terms are told first: another token would not help.
        if (isFinal(error)) await requireSameTerms(context, before, asked)
        throw error
      })
      return requireSame(context, locked, before, { ...asked, method })
    }
    if (hasTrial(wanted)) await requireTrialLeft(context, locked, begun)
    const customerId = await ensureCustomer(context, locked, {
      provider: wanted.provider,
      ...payer,
      mayLackCard: wanted.withoutCard ?? false,
    })
    const paid = before && (await replaceUnpaid(context, locked, { ...before, asked, customerId }))
    // By now it has the card that was given.
    if (paid) return requireSame(context, locked, paid, asked)
    const choice = chosen === null ? {} : { chosenTax: chosen }
    return make(context, locked, { ...wanted, customerId, ...tax, ...choice })
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

/** Gives the subscription that is there to a second click, and to a repeat of a create whose answer was lost. */
async function requireSame(
  context: BillingContext,
  locked: LockedOwner,
  running: Running,
  asked: AskedTerms,
): Promise<SubscriptionRecord> {
  const { record, found } = running
  await requireSameTerms(context, running, asked)
  if (!active(record, context.options.clock.now())) {
    await (await locked.gateway(record.provider)).requirePaid(found)
  }
  return record
}

/** The method behind the token, which is kept only where a subscription is made. */
async function readMethod(
  locked: LockedOwner,
  { record, found }: Running,
  { provider }: WantedSubscription,
  token: string | null,
): Promise<ProviderMethod | null> {
  if (token === null || record.provider !== provider) return null
  const gateway = await locked.gateway(provider)
  const customerId = found.customerId ?? (await gateway.findOwner(found))
  return customerId === null ? null : gateway.readToken(customerId, token)
}
