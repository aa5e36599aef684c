import type { BillingContext } from '../../core/context.ts'
import {
  isSameOwnership,
  isSamePeriod,
  isSameSubscriptionRecord,
  toSubscriptionRecord,
} from '../../core/converge.ts'
import type { BilledOwner, SubscriptionRecord } from '../../core/storage/tables.ts'
import type { Owner } from '../../core/values/owner.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import type { ProviderSubscription } from '../../providers/subscription.ts'
import { isSameCard } from '../payment-methods/set-billed-card.ts'
import type { AccountData, ListedDispute } from './contract.ts'

/** The result of comparing a page of the provider's list with our database. */
export interface ListComparison {
  /**
   * Owners whose data may differ from the provider's. They were compared without a lock, so each is
   * compared again under its lock before anything is changed.
   */
  readonly suspects: readonly Owner[]
  /** Subscriptions in our database that the list contained. */
  readonly rows: readonly SubscriptionRecord[]
}

/**
 * Finds the owners whose listed customers and subscriptions differ from our database. Runs a few
 * SQL statements for the whole page.
 */
export async function findDifferingOwners(
  context: BillingContext,
  provider: ProviderName,
  { customers, subscriptions }: AccountData,
): Promise<ListComparison> {
  const rows = await context.subscriptions.listByProvider(
    provider,
    subscriptions.map(({ id }) => id),
  )
  const customerOf = ({ id, customerId }: ProviderSubscription) =>
    customerId ?? rows.get(id)?.providerCustomer ?? null
  const holders = await context.owners.findByCustomers(provider, [
    ...new Set([
      ...customers.map(({ id }) => id),
      ...subscriptions.flatMap((each) => customerOf(each) ?? []),
    ]),
  ])
  const suspects: Owner[] = []
  for (const { id, card } of customers) {
    const holder = holders.get(id)
    if (holder && !isSameCard(card, holder)) suspects.push(holder.owner)
  }
  for (const found of subscriptions) {
    // A customer without an owner belongs to another application, or is found later by its row.
    const holder = holders.get(customerOf(found) ?? '')
    if (holder && isOutdated(context, holder, found, rows.get(found.id) ?? null)) {
      suspects.push(holder.owner)
    }
  }
  return { suspects, rows: [...rows.values()] }
}

function isOutdated(
  { options }: BillingContext,
  holder: BilledOwner,
  found: ProviderSubscription,
  row: SubscriptionRecord | null,
): boolean {
  if (row === null || found.hasLapsed) return true
  const wanted = toSubscriptionRecord({
    found,
    whose: { owner: holder.owner, providerCustomer: holder.providerId },
    name: row.name,
    provider: row.provider,
    before: row,
    now: options.clock.now(),
  })
  return (
    !isSameSubscriptionRecord(row, wanted) ||
    !isSameOwnership(row, wanted) ||
    !isSamePeriod(row, wanted)
  )
}

/**
 * Finds the owners of listed disputes whose status differs from our database. If the list does not
 * name a dispute's customer, the dispute is read from the provider.
 */
export async function findOwnersWithDifferingDisputes(
  context: BillingContext,
  provider: ProviderName,
  listed: readonly ListedDispute[],
): Promise<Owner[]> {
  const { disputes } = await context.gateway(provider)
  const suspects: Owner[] = []
  for (const { id, customerId, status } of listed) {
    const known = await context.disputes.find(provider, id)
    if (known?.status === status) continue
    const customer = customerId ?? (await disputes?.find(id))?.customerId
    const holder = customer ? await context.owners.findByCustomer(provider, customer) : null
    if (holder) suspects.push(holder.owner)
  }
  return suspects
}
