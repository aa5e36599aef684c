import { converge } from '../consistency/converge.ts'
import { findRunning, type Running } from '../consistency/find-running.ts'
import type { LockedOwner } from '../consistency/owner-lock.ts'
import { abandon } from '../consistency/settle-first-payment.ts'
import type { BillingContext } from '../context.ts'
import type { AskedTerms } from './terms/differing-terms.ts'
import { findDifferences } from './terms/same-terms.ts'

/** A subscription whose first payment never came, and what is wanted in its place. */
export interface Unpaid extends Running {
  readonly asked: AskedTerms
  readonly customerId: string
}

/**
 * Another card or other terms go on at once: what was not paid is closed, and nobody can pay it later; null says that the
 * way is free. The same again, by the card that is asked about, asks again. What is given was paid in this very moment,
 * in another window.
 */
export async function replaceUnpaid(
  context: BillingContext,
  locked: LockedOwner,
  { asked, customerId, ...unpaid }: Unpaid,
): Promise<Running | null> {
  const { record, found } = unpaid
  const gateway = await locked.gateway(record.provider)
  const isSame = (await findDifferences(context, unpaid, asked)).length === 0
  if (isSame && (await gateway.confirmations?.isAwaiting(found, customerId))) {
    await gateway.requirePaid(found)
    return unpaid
  }
  await abandon(locked, record.provider, found)
  await converge(context, locked, record)
  return findRunning(context, locked, record.name)
}
