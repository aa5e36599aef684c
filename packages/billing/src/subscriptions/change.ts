import { converge, endRow } from '../consistency/converge.ts'
import { type LockedOwner, withOwnerLock } from '../consistency/owner-lock.ts'
import { resumeInterrupted } from '../consistency/resume-interrupted.ts'
import { concernsOwner } from '../consistency/subscription-owner.ts'
import type { BillingContext } from '../context.ts'
import { isBillingError } from '../error-codes.ts'
import { NoSubscription, SubscriptionEnded } from '../errors.ts'
import type { Gateway } from '../gateways/contract/gateway.ts'
import type { ProviderSubscription } from '../gateways/contract/subscription.ts'
import type { SubscriptionRecord } from '../storage/tables.ts'
import { ownerKey } from '../values/owner.ts'

/** A subscription as it is now, and its owner, whom nobody else works on meanwhile. */
export interface Current {
  /** Read under the lock. */
  readonly found: ProviderSubscription
  readonly locked: LockedOwner
  /** Asks the provider for one change. */
  ask<R>(change: (gateway: Gateway) => Promise<R>): Promise<R>
}

export type ChangeAtProvider = (current: Current) => Promise<void>

export interface ChangeOptions {
  /** Access is over when it is done. */
  readonly ends?: boolean
  /** The last step, once the row is written: until then an answer may still be lost. */
  readonly settle?: (locked: LockedOwner) => Promise<void>
}

/** Every operation on a subscription: read it, ask for the change, bring our row to what came of it. */
export async function changeSubscription(
  context: BillingContext,
  record: SubscriptionRecord,
  change: ChangeAtProvider,
  { ends = false, settle }: ChangeOptions = {},
): Promise<SubscriptionRecord> {
  return withOwnerLock(context, record.owner, async (locked) => {
    await resumeInterrupted(context, locked)
    await requireOwned(context, record)
    const gateway = await locked.gateway(record.provider)
    const found = await gateway.findSubscription(record.providerId)
    if (!found) throw new NoSubscription('The provider no longer has this subscription')
    try {
      await change({ found, locked, ask: (each) => locked.change(record.provider, each) })
    } catch (error) {
      // It was ended elsewhere, of which we may not have heard yet.
      throw found.isOver ? asEnded(error) : error
    } finally {
      // Also after a failure: a timeout may hide that the provider did what was asked.
      await converge(context, locked, record)
    }
    if (ends) await endRow(context, locked, record)
    await settle?.(locked)
    return requireRecord(context, record)
  })
}

/** Throws NoSubscription if the subscription was given to another owner since it was read. */
export async function requireOwned(
  context: BillingContext,
  { owner, provider, providerId }: SubscriptionRecord,
): Promise<void> {
  const row = await context.subscriptions.findByProvider(provider, providerId)
  if (!row) return
  const isTheirs = ownerKey(row.owner) === ownerKey(owner) && (await concernsOwner(context, row))
  if (!isTheirs) throw new NoSubscription(`It is no subscription of the ${owner.type} any more`)
}

/** What a provider refuses of one that is over; anything else as it is. */
export function asEnded(error: unknown): unknown {
  if (!isBillingError(error, 'provider_rejected')) return error
  return new SubscriptionEnded('The subscription has ended: create a new one', { cause: error })
}

export async function requireRecord(
  context: BillingContext,
  { provider, providerId }: Pick<SubscriptionRecord, 'provider' | 'providerId'>,
): Promise<SubscriptionRecord> {
  const record = await context.subscriptions.findByProvider(provider, providerId)
  if (!record) throw new NoSubscription('There is no such subscription')
  return record
}
