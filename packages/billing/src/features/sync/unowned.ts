import type { BillingContext } from '../../core/context.ts'
import { refreshSubscriptionRow, toStateColumns } from '../../core/converge.ts'
import { withOwnerLock } from '../../core/owner-lock.ts'
import type { BilledOwner, SubscriptionRecord } from '../../core/storage/tables.ts'
import { formatOwnerKey } from '../../core/values/owner.ts'
import { awaitsFirstPayment, hasSubscriptionEnded } from '../../core/values/subscription-state.ts'
import { endUnpaidSubscription } from '../subscribe/settle-first-payment.ts'
import type { Drift, SyncOptions } from './drift.ts'

type Reason = Extract<Drift['what'], 'user deleted' | 'no owner'>

/**
 * Reports a running subscription that belongs to no owner, because the application has deleted the
 * owner, or the owner has another customer now. Its card is still charged, but no user sees it.
 * Cancels the subscription if the options of `sync()` allow it.
 */
export async function reportUnownedSubscription(
  context: BillingContext,
  row: SubscriptionRecord,
  billed: BilledOwner | null,
  options: SyncOptions,
): Promise<Drift | null> {
  const why = await findUnownedReason(context, row, billed)
  return why && reportUnowned(context, row, why, options)
}

async function findUnownedReason(
  { owners }: BillingContext,
  { provider, providerCustomer }: SubscriptionRecord,
  billed: BilledOwner | null,
): Promise<Reason | null> {
  if (providerCustomer === null) return billed ? null : 'user deleted'
  if (billed?.provider === provider && billed.providerId === providerCustomer) return null
  // The owner of the customer gets the row when that owner is compared.
  if (await owners.findByCustomer(provider, providerCustomer)) return null
  return billed ? 'no owner' : 'user deleted'
}

/**
 * Builds the report. `null` if the subscription has ended at the provider, even if our row says
 * otherwise.
 */
async function reportUnowned(
  context: BillingContext,
  row: SubscriptionRecord,
  what: Reason,
  { dryRun = false, cancelDeletedUsers = false, cancelUnowned = false }: SyncOptions,
): Promise<Drift | null> {
  const isWanted = what === 'user deleted' ? cancelDeletedUsers : cancelUnowned
  const isEnded = isWanted && !dryRun
  return withOwnerLock(context, row.owner, async (locked) => {
    const gateway = await locked.gateway(row.provider)
    const found = dryRun
      ? await gateway.findSubscription(row.providerId)
      : await refreshSubscriptionRow(context, locked, row)
    const { owner, provider, providerId, name } = row
    // An ended subscription is not charged any more, even if access continues for a while.
    if (!found || found.isOver) return null
    const columns = toStateColumns(context, provider, found)
    if (hasSubscriptionEnded(columns, context.options.clock.now())) return null
    // The row did not name its customer, which may have an owner after all.
    const now = await context.subscriptions.findByProvider(provider, providerId)
    if (now && formatOwnerKey(now.owner) !== formatOwnerKey(owner)) return null
    if (isEnded) {
      if (awaitsFirstPayment(columns)) await endUnpaidSubscription(locked, provider, found)
      await locked.change(provider, (changing) => changing.cancelNow(found.id))
      await refreshSubscriptionRow(context, locked, row)
    }
    const after = isEnded ? await gateway.findSubscription(providerId) : found
    const customer = found.customerId ?? row.providerCustomer
    const was = {
      name,
      price: found.price,
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

const ADVICE: Readonly<
  Record<Reason, (row: SubscriptionRecord, customer: string | null) => string>
> = {
  'user deleted': ({ owner }) =>
    `The ${owner.type} ${owner.id} no longer exists: end the subscription with cancelDeletedUsers (--cancel-deleted-users)`,
  'no owner': ({ owner, provider }, customer) =>
    `${provider} charges the customer ${customer || '(unknown)'}, which no row has in provider_id. Set provider_id for the owner who pays and sync again, or end the subscription with cancelUnowned (--cancel-unowned). The ${owner.type} ${owner.id} no longer has this customer`,
}
