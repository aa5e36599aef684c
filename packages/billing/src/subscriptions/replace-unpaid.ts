import { converge } from '../consistency/converge.ts'
import type { LockedOwner } from '../consistency/owner-lock.ts'
import { abandon } from '../consistency/settle-first-payment.ts'
import type { BillingContext } from '../context.ts'
import type { FirstPayment, ProviderSubscription } from '../gateways/contract/subscription.ts'
import type { SubscriptionRecord } from '../storage/tables.ts'
import { ended } from '../values/subscription-state.ts'
import { requireRecord } from './change.ts'

/** A subscription whose first payment never came, and what is wanted in its place. */
export interface Unpaid {
  readonly record: SubscriptionRecord
  readonly found: ProviderSubscription
  readonly wanted: FirstPayment
}

/**
 * Another card or plan goes on at once: what was not paid is closed, and nobody can pay it later;
 * null says that the way is free. The same again, by the card that is asked about, asks again.
 * A row is one that was paid in this very moment, in another window.
 */
export async function replaceUnpaid(
  context: BillingContext,
  locked: LockedOwner,
  { record, found, wanted }: Unpaid,
): Promise<SubscriptionRecord | null> {
  const gateway = await locked.gateway(record.provider)
  const isSameProvider = record.provider === wanted.provider
  if (isSameProvider && (await gateway.confirmations?.isAwaiting(found, wanted))) {
    await gateway.requirePaid(found)
    return record
  }
  await abandon(locked, record.provider, found)
  await converge(context, locked, record)
  const now = await requireRecord(context, record)
  return ended(now, context.options.clock.now()) ? null : now
}
