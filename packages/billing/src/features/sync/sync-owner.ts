import type { BillingContext } from '../../core/context.ts'
import {
  isSameOwnership,
  isSamePeriod,
  isSameSubscriptionRecord,
  storeSubscription,
  toSubscriptionRecord,
  undoLapsedChange,
} from '../../core/converge.ts'
import type { LockedOwner } from '../../core/locked-owner.ts'
import { resumeInterrupted, withOwnerLock } from '../../core/owner-lock.ts'
import type {
  BilledOwner,
  NewSubscriptionRecord,
  SubscriptionRecord,
} from '../../core/storage/tables.ts'
import { formatOwnerKey, type Owner } from '../../core/values/owner.ts'
import { DEFAULT_SUBSCRIPTION_NAME } from '../../core/values/subscription-name.ts'
import type { ReadOnlyGateway } from '../../providers/gateway.ts'
import type { ProviderSubscription } from '../../providers/subscription.ts'
import { syncDisputes } from '../disputes/store-dispute.ts'
import { isSameCard, setBilledCard } from '../payment-methods/set-billed-card.ts'
import type { Drift, DriftReport } from './drift.ts'

/**
 * Updates the data of one owner in our database to the provider's state, and returns the
 * differences that it found.
 */
export function syncOwner(
  context: BillingContext,
  owner: Owner,
  { dryRun = false }: { readonly dryRun?: boolean } = {},
): Promise<DriftReport> {
  return withOwnerLock(context, owner, async (locked) => {
    const billed = await context.owners.find(owner)
    if (!billed?.provider || !billed.providerId) return { users: 1, drift: [], failures: [] }
    if (!dryRun) await resumeInterrupted(context, locked)
    const gateway = await locked.gateway(billed.provider)
    const customer = { provider: billed.provider, customerId: billed.providerId }
    const drift = [
      ...(await syncCard(context, { locked, gateway, billed, dryRun })),
      ...(await syncSubscriptions(context, { locked, gateway, billed, dryRun })),
    ]
    const disputes = await syncDisputes(context, locked, customer, { dryRun })
    return { users: 1, drift: [...drift, ...disputes.drift], failures: disputes.failures }
  })
}

interface OwnerSync {
  readonly locked: LockedOwner
  readonly gateway: ReadOnlyGateway
  readonly billed: BilledOwner
  readonly dryRun: boolean
}

async function syncSubscriptions(context: BillingContext, work: OwnerSync): Promise<Drift[]> {
  const { gateway, billed } = work
  const rows = (await context.subscriptions.listByOwner(billed.owner)).filter(
    ({ provider }) => provider === gateway.name,
  )
  const listed = await gateway.listSubscriptions(billed.providerId ?? '')
  const drift: Drift[] = []
  for (const each of listed) {
    const found = work.dryRun ? each : await undoLapsedChange(work.locked, gateway.name, each)
    const own = rows.find(({ providerId }) => providerId === found.id)
    // The row may still name the owner that had the customer before.
    const row = own ?? (await context.subscriptions.findByProvider(gateway.name, found.id))
    drift.push(...(await compare(context, work, row, found)))
  }
  // Not every provider lists ended subscriptions, so missing rows are read one by one.
  for (const row of rows) {
    if (listed.some(({ id }) => id === row.providerId) || isLongOver(context, row)) continue
    const found = await gateway.findSubscription(row.providerId)
    if (found) drift.push(...(await compare(context, work, row, found)))
  }
  return drift
}

function isLongOver({ options }: BillingContext, { endsAt }: SubscriptionRecord): boolean {
  return endsAt !== null && endsAt <= options.clock.now()
}

async function compare(
  context: BillingContext,
  { locked, gateway, billed, dryRun }: OwnerSync,
  row: SubscriptionRecord | null,
  found: ProviderSubscription,
): Promise<Drift[]> {
  const { owner } = billed
  const wanted = toSubscriptionRecord({
    found,
    whose: { owner, providerCustomer: billed.providerId },
    name: row?.name ?? found.name ?? DEFAULT_SUBSCRIPTION_NAME,
    provider: gateway.name,
    before: row,
    now: context.options.clock.now(),
  })
  const isMoved = row !== null && formatOwnerKey(row.owner) !== formatOwnerKey(owner)
  const isRight = row !== null && !isMoved && isSameSubscriptionRecord(row, wanted)
  // A row that the application imported names neither customer nor period yet. It is completed
  // without being reported.
  if (isRight && isSameOwnership(row, wanted) && isSamePeriod(row, wanted)) return []
  if (!dryRun) await storeSubscription(context, locked, gateway.name, found)
  if (isRight) return []
  const whose = (of: Owner) => (isMoved ? { owner: of } : {})
  return [
    {
      owner,
      provider: gateway.name,
      providerId: found.id,
      what: classifyDrift(row, isMoved),
      was: row ? { ...whose(row.owner), ...toComparableRecord(row) } : null,
      is: { ...whose(owner), ...toComparableRecord(wanted) },
    },
  ]
}

function classifyDrift(row: SubscriptionRecord | null, isMoved: boolean): Drift['what'] {
  if (row === null) return 'missing row'
  return isMoved ? 'other owner' : 'outdated row'
}

function toComparableRecord(record: NewSubscriptionRecord): object {
  const { providerPlan, providerStatus, quantity, trialEndsAt, endsAt, items } = record
  const { pausedAt, plannedPrice, plannedAt } = record
  return {
    price: providerPlan,
    status: providerStatus,
    quantity,
    trialEndsAt,
    endsAt,
    ...(pausedAt ? { pausedAt } : {}),
    ...(plannedPrice ? { planned: { price: plannedPrice, at: plannedAt } } : {}),
    ...(items.length > 0
      ? { items: items.map(({ price, quantity }) => ({ price, quantity })) }
      : {}),
  }
}

/** Compares the billed card, because not every provider sends a webhook when a card changes. */
async function syncCard(
  context: BillingContext,
  { locked, gateway, billed, dryRun }: OwnerSync,
): Promise<Drift[]> {
  const { owner, providerId, cardBrand, cardLastFour, cardExpires, paypalEmail } = billed
  const customer = await gateway.findCustomer(providerId ?? '')
  if (!customer || isSameCard(customer.card, billed)) return []
  if (!dryRun) await setBilledCard(context, locked, gateway.name, customer.card)
  return [
    {
      owner,
      provider: gateway.name,
      providerId: customer.id,
      what: 'card',
      was: { cardBrand, cardLastFour, cardExpires, paypalEmail },
      is: customer.card,
    },
  ]
}
