import type { BillingContext } from '../../context.ts'
import type { BilledOwner, SubscriptionRecord } from '../../storage/tables.ts'
import { ownerKey } from '../../values/owner.ts'
import { awaitsFirstPayment, ended } from '../../values/subscription-state.ts'
import { columnsOf, converge } from '../converge.ts'
import { withOwnerLock } from '../owner-lock.ts'
import { abandon } from '../settle-first-payment.ts'
import type { Drift, SyncOptions } from './drift.ts'

type Why = Extract<Drift['what'], 'user deleted' | 'no owner'>

/**
 * Reports a live subscription that no owner has: the application has deleted the owner, or the owner has another customer.
 * Its card is charged, and no user sees it. Ends it if the options say so.
 */
export async function syncUnowned(
  context: BillingContext,
  row: SubscriptionRecord,
  billed: BilledOwner | null,
  options: SyncOptions,
): Promise<Drift | null> {
  const why = await whyUnowned(context, row, billed)
  return why && tell(context, row, why, options)
}

async function whyUnowned(
  { owners }: BillingContext,
  { provider, providerCustomer }: SubscriptionRecord,
  billed: BilledOwner | null,
): Promise<Why | null> {
  if (providerCustomer === null) return billed ? null : 'user deleted'
  if (billed?.provider === provider && billed.providerId === providerCustomer) return null
  // The owner who has the customer gets the row when that owner is compared.
  if (await owners.findByCustomer(provider, providerCustomer)) return null
  return billed ? 'no owner' : 'user deleted'
}

/** Null when it is over at the provider, whatever our row says. */
async function tell(
  context: BillingContext,
  row: SubscriptionRecord,
  what: Why,
  { dryRun = false, cancelDeletedUsers = false, cancelUnowned = false }: SyncOptions,
): Promise<Drift | null> {
  const isWanted = what === 'user deleted' ? cancelDeletedUsers : cancelUnowned
  const isEnded = isWanted && !dryRun
  return withOwnerLock(context, row.owner, async (locked) => {
    const gateway = await locked.gateway(row.provider)
    const found = dryRun
      ? await gateway.findSubscription(row.providerId)
      : await converge(context, locked, row)
    const { owner, provider, providerId, name } = row
    // One that is over is charged no more, though access may go on for a while.
    if (!found || found.isOver) return null
    const columns = columnsOf(context, provider, found)
    if (ended(columns, context.options.clock.now())) return null
    // The row did not name its customer, who may have an owner after all.
    const now = await context.subscriptions.findByProvider(provider, providerId)
    if (now && ownerKey(now.owner) !== ownerKey(owner)) return null
    if (isEnded) {
      if (awaitsFirstPayment(columns)) await abandon(locked, provider, found)
      await locked.change(provider, (changing) => changing.cancelNow(found.id))
      await converge(context, locked, row)
    }
    const after = isEnded ? await gateway.findSubscription(providerId) : found
    const customer = found.customerId ?? row.providerCustomer
    const was = {
      name,
      plan: found.plan,
      status: found.status,
      ...(what === 'no owner' ? { customer } : {}),
    }
    return {
      ...{ owner, provider, providerId, what, was },
      is: { ...was, status: after?.status ?? null },
      ...(isEnded ? {} : { advice: ADVICE[what](row, customer) }),
    }
  })
}

const ADVICE: Readonly<Record<Why, (row: SubscriptionRecord, customer: string | null) => string>> =
  {
    'user deleted': ({ owner }) =>
      `There is no ${owner.type} ${owner.id} any more: end it with cancelDeletedUsers (--cancel-deleted-users)`,
    'no owner': ({ owner, provider }, customer) =>
      `${provider} charges the customer ${customer || '(unknown)'}, and no row has it in provider_id. Put it there for the owner who pays, and sync again; or end it with cancelUnowned (--cancel-unowned). The ${owner.type} ${owner.id} of today has no part in it`,
  }
