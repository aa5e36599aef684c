import { converge } from '../consistency/converge.ts'
import type { Owner } from '../consistency/user-lock.ts'
import type { BillingContext } from '../context.ts'
import type { FirstPayment, ProviderSubscription } from '../gateways/contract/gateway.ts'
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
 * Another card or plan goes on at once: what was not paid is closed, so that nobody can pay it later,
 * and null says that the way is free. The same again, by the card that is asked about, asks again.
 * A row is one that was paid in this very moment, in another window.
 */
export async function replaceUnpaid(
  context: BillingContext,
  owner: Owner,
  { record, found, wanted }: Unpaid,
): Promise<SubscriptionRecord | null> {
  const gateway = await owner.gateway(record.provider)
  if (record.provider === wanted.provider && (await gateway.isAwaiting(found, wanted))) {
    await gateway.requirePaid(found)
    return record
  }
  await gateway.abandon(found)
  await converge(context, owner, record)
  const now = await requireRecord(context, record)
  return ended(now, context.options.clock.now()) ? null : now
}
