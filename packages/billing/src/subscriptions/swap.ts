import { completeReplacement } from '../consistency/complete-replacement.ts'
import { columnsOf } from '../consistency/converge.ts'
import { keepTax } from '../consistency/keep-tax.ts'
import { attempt, begin } from '../consistency/operation.ts'
import { withOwnerLock } from '../consistency/owner-lock.ts'
import { resumeInterrupted } from '../consistency/resume-interrupted.ts'
import type { BillingContext } from '../context.ts'
import { SubscriptionEnded } from '../errors.ts'
import { requirePart } from '../gateways/contract/parts.ts'
import type { ProviderSubscription } from '../gateways/contract/subscription.ts'
import type { Swap } from '../gateways/contract/swap.ts'
import type { ProviderName } from '../provider-name.ts'
import type { Intent } from '../storage/operations.ts'
import type { SubscriptionRecord } from '../storage/tables.ts'
import { ended } from '../values/subscription-state.ts'
import { type ChangeAtProvider, changeSubscription, requireOwned, requireRecord } from './change.ts'

/** How a plan is changed. */
export interface SwapOptions {
  /** From `previewSwap()`, to be charged the same cents. */
  readonly prorationDate?: Date
}

/** Changes the plan in place where the provider can, and by a new subscription where it cannot. */
export async function swapSubscription(
  context: BillingContext,
  record: SubscriptionRecord,
  wanted: Swap,
  minding: (change: ChangeAtProvider) => ChangeAtProvider = (change) => change,
): Promise<SubscriptionRecord> {
  const { provider } = record
  const { clock } = context.options
  const needsReplacement = async () => {
    const { replacements } = await context.gateway(provider)
    return (await replacements?.isNeeded(record.providerId, wanted, clock.now())) ?? false
  }
  if (await needsReplacement()) return replaceSubscription(context, record, wanted)
  let needsOne = false
  const make: ChangeAtProvider = async ({ found, locked, ask }) => {
    requireLive(context, provider, found)
    // A refund before the lock was acquired may have made a replacement necessary.
    needsOne = await needsReplacement()
    if (needsOne) return
    await ask((gateway) => gateway.swap(found.id, wanted, clock.now()))
    if (found.taxedPrice === null) return
    const { lastChargeAt } = found
    const swapped = await (await locked.gateway(provider)).findSubscription(found.id)
    const terms = { tax: wanted.tax, lastChargeAt }
    if (swapped) await keepTax(context, locked, provider, { found: swapped, ...terms })
  }
  const changed = await changeSubscription(context, record, minding(make))
  return needsOne ? replaceSubscription(context, record, wanted) : changed
}

/**
 * The new subscription first, the old one cancelled after: whoever is declined keeps what they had.
 * The operation is on record before the first call, and a swap cut short is finished later.
 */
export function replaceSubscription(
  context: BillingContext,
  record: SubscriptionRecord,
  wanted: Swap,
): Promise<SubscriptionRecord> {
  const { clock } = context.options
  const { owner, provider, providerId: from, name } = record
  return withOwnerLock(context, owner, async (locked) => {
    await resumeInterrupted(context, locked)
    await requireOwned(context, record)
    const newest = await context.subscriptions.findByName(owner, name)
    // A second click waited for the first one, which has done it.
    if (newest && newest.id !== record.id && hasWanted(newest, wanted)) {
      if (ended(newest, clock.now())) throw hasEnded()
      return newest
    }
    const current = await (await locked.gateway(provider)).findSubscription(from)
    if (current) requireLive(context, provider, current)
    const row = await requireRecord(context, record)
    if (ended(row, clock.now())) throw hasEnded()
    const { items } = wanted
    const same = { provider, from, plan: wanted.plan, ...(items ? { items } : {}) }
    const tax = wanted.keepsPrice ? (wanted.before?.tax ?? wanted.tax) : wanted.tax
    const request = { ...same, tax }
    const intent: Intent = { owner, kind: 'swap', request, same, name }
    const operation = await begin(context, locked, intent)
    const customer = await context.owners.find(owner)
    const customerId = customer?.providerId ?? ''
    const at = { operation: operation.id, name, customerId, now: clock.now() }
    const made = await attempt(context, locked, operation, () =>
      locked.change(provider, (gateway) =>
        requirePart(gateway, 'replacements').create(from, wanted, at),
      ),
    )
    await keepTax(context, locked, provider, { found: made, tax, lastChargeAt: null })
    await completeReplacement(context, locked, { provider, made, from, operation })
    return requireRecord(context, { provider, providerId: made.id })
  })
}

function hasWanted(row: SubscriptionRecord, { plan, items }: Swap): boolean {
  if (row.providerPlan !== plan) return false
  const others = items?.slice(1) ?? row.items
  return (
    others.length === row.items.length &&
    others.every(({ price, quantity }) =>
      row.items.some((item) => item.price === price && item.quantity === quantity),
    )
  )
}

function requireLive(
  context: BillingContext,
  provider: ProviderName,
  current: ProviderSubscription,
): void {
  const columns = columnsOf(context, provider, current)
  if (ended(columns, context.options.clock.now())) throw hasEnded()
}

function hasEnded(): SubscriptionEnded {
  return new SubscriptionEnded('The subscription has ended')
}
