import { completeReplacement } from '../consistency/complete-replacement.ts'
import { keepTax } from '../consistency/keep-tax.ts'
import { finishInterrupted } from '../consistency/resume-interrupted.ts'
import { asOwner, type Owner } from '../consistency/user-lock.ts'
import type { BillingContext } from '../context.ts'
import { isFinal, SubscriptionEnded } from '../errors.ts'
import type { Gateway, ProviderSubscription, Swap } from '../gateways/contract/gateway.ts'
import type { Intent, Operation } from '../storage/operations.ts'
import type { SubscriptionRecord, UserRecord } from '../storage/tables.ts'
import { ended } from '../values/subscription-state.ts'
import { changeSubscription, requireRecord } from './change.ts'

export interface SwapOptions {
  /** From `previewSwap()`, to be charged the same cents. */
  readonly prorationDate?: Date
}

/** Changes the plan in place where the provider can, and by a new subscription where it cannot. */
export async function swapSubscription(
  context: BillingContext,
  user: UserRecord,
  record: SubscriptionRecord,
  wanted: Swap,
): Promise<SubscriptionRecord> {
  const gateway = await context.gateway(record.provider)
  const { clock } = context.options
  if (await gateway.needsReplacement(record.providerId, wanted, clock.now())) {
    return replaceSubscription(context, user, record, wanted)
  }
  return changeSubscription(context, record, async (provider, current, owner) => {
    requireLive(current, clock.now())
    await provider.swap(current.id, wanted, clock.now())
    const { lastChargeAt } = current
    const found = current.taxedPrice === null ? null : await provider.findSubscription(current.id)
    if (found)
      await keepTax(context, owner, provider.name, { found, tax: wanted.tax, lastChargeAt })
  })
}

/**
 * The new subscription first, the old one cancelled after: whoever is declined keeps what they had.
 * The operation is on record before the first call, so that a swap cut short is finished later.
 */
export function replaceSubscription(
  context: BillingContext,
  user: UserRecord,
  record: SubscriptionRecord,
  wanted: Swap,
): Promise<SubscriptionRecord> {
  const { operations, options } = context
  return asOwner(context, user.id, async (owner) => {
    await finishInterrupted(context, owner)
    const gateway = await owner.gateway(record.provider)
    const newest = await context.subscriptions.findByName(user.id, record.name)
    // A second click waited for the first one, which has done it.
    if (newest && newest.id !== record.id && newest.providerPlan === wanted.plan) {
      if (ended(newest, options.clock.now()))
        throw new SubscriptionEnded('The subscription has ended')
      return newest
    }
    const current = await gateway.findSubscription(record.providerId)
    if (current) requireLive(current, options.clock.now())
    const row = await requireRecord(context, record)
    if (ended(row, options.clock.now())) throw new SubscriptionEnded('The subscription has ended')
    const same = { provider: record.provider, from: record.providerId, plan: wanted.plan }
    const tax = wanted.keepsPrice ? (wanted.before?.tax ?? wanted.tax) : wanted.tax
    const intent: Intent = {
      userId: user.id,
      kind: 'swap',
      request: { ...same, tax },
      same,
      name: record.name,
    }
    const operation = await owner.lock.write((tx) =>
      operations.begin(intent, options.clock.now(), tx),
    )
    const customer = await context.users.find(user.id)
    const customerId = customer?.providerId ?? ''
    const made = await create(context, owner, gateway, { customerId, record, wanted, operation })
    await keepTax(context, owner, gateway.name, { found: made, tax, lastChargeAt: null })
    await completeReplacement(context, owner, { gateway, made, from: record.providerId, operation })
    return requireRecord(context, { provider: record.provider, providerId: made.id })
  })
}

async function create(
  context: BillingContext,
  owner: Owner,
  gateway: Gateway,
  swap: { customerId: string; record: SubscriptionRecord; wanted: Swap; operation: Operation },
): Promise<ProviderSubscription> {
  const { customerId, record, wanted, operation } = swap
  try {
    return await gateway.replace(record.providerId, wanted, {
      operation: operation.id,
      name: record.name,
      customerId,
      now: context.options.clock.now(),
    })
  } catch (error) {
    if (isFinal(error)) await owner.lock.write((tx) => context.operations.finish(operation, tx))
    throw error
  }
}

function requireLive(current: ProviderSubscription, now: Date): void {
  const columns = {
    providerStatus: current.status,
    trialEndsAt: current.trialEndsAt,
    endsAt: current.endsAt,
  }
  if (ended(columns, now)) throw new SubscriptionEnded('The subscription has ended')
}
