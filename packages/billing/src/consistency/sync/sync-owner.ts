import type { BillingContext } from '../../context.ts'
import type { ReadingGateway } from '../../gateways/contract/gateway.ts'
import type { ProviderSubscription } from '../../gateways/contract/subscription.ts'
import type {
  BilledOwner,
  NewSubscriptionRecord,
  SubscriptionRecord,
} from '../../storage/tables.ts'
import { type Owner, ownerKey } from '../../values/owner.ts'
import { DEFAULT_NAME } from '../../values/subscription-name.ts'
import { isSame, isSameOwnership, putBack, store, toRecord } from '../converge.ts'
import { type LockedOwner, withOwnerLock } from '../owner-lock.ts'
import { resumeInterrupted } from '../resume-interrupted.ts'
import { syncDisputes } from '../settle-dispute.ts'
import type { Drift, DriftReport } from './drift.ts'
import { syncCard } from './sync-card.ts'

/** Brings one owner's rows to the provider's state, and says what was different. */
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

interface Work {
  readonly locked: LockedOwner
  readonly gateway: ReadingGateway
  readonly billed: BilledOwner
  readonly dryRun: boolean
}

async function syncSubscriptions(context: BillingContext, work: Work): Promise<Drift[]> {
  const { gateway, billed } = work
  const rows = (await context.subscriptions.listByOwner(billed.owner)).filter(
    ({ provider }) => provider === gateway.name,
  )
  const listed = await gateway.listSubscriptions(billed.providerId ?? '')
  const drift: Drift[] = []
  for (const each of listed) {
    const found = work.dryRun ? each : await putBack(work.locked, gateway.name, each)
    const own = rows.find(({ providerId }) => providerId === found.id)
    // Its row may name another owner, from whom the customer was taken.
    const row = own ?? (await context.subscriptions.findByProvider(gateway.name, found.id))
    drift.push(...(await compare(context, work, row, found)))
  }
  // Not every provider lists what has ended, so rows that were not listed are asked for one by one.
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
  { locked, gateway, billed, dryRun }: Work,
  row: SubscriptionRecord | null,
  found: ProviderSubscription,
): Promise<Drift[]> {
  const { owner } = billed
  const wanted = toRecord({
    found,
    whose: { owner, providerCustomer: billed.providerId },
    name: row?.name ?? found.name ?? DEFAULT_NAME,
    provider: gateway.name,
    before: row,
    now: context.options.clock.now(),
  })
  const isMoved = row !== null && ownerKey(row.owner) !== ownerKey(owner)
  const isRight = row !== null && !isMoved && isSame(row, wanted)
  // A row of an older build does not name the customer yet. That is filled in, and not reported.
  if (isRight && isSameOwnership(row, wanted)) return []
  if (!dryRun) await store(context, locked, gateway.name, found)
  if (isRight) return []
  const whose = (of: Owner) => (isMoved ? { owner: of } : {})
  return [
    {
      owner,
      provider: gateway.name,
      providerId: found.id,
      what: whatDiffers(row, isMoved),
      was: row ? { ...whose(row.owner), ...shown(row) } : null,
      is: { ...whose(owner), ...shown(wanted) },
    },
  ]
}

function whatDiffers(row: SubscriptionRecord | null, isMoved: boolean): Drift['what'] {
  if (row === null) return 'missing row'
  return isMoved ? 'other owner' : 'outdated row'
}

function shown(record: NewSubscriptionRecord): object {
  const { providerPlan, providerStatus, quantity, trialEndsAt, endsAt, items } = record
  const { pausedAt, plannedPlan, plannedAt } = record
  return {
    plan: providerPlan,
    status: providerStatus,
    quantity,
    trialEndsAt,
    endsAt,
    ...(pausedAt ? { pausedAt } : {}),
    ...(plannedPlan ? { planned: { plan: plannedPlan, at: plannedAt } } : {}),
    ...(items.length > 0
      ? { items: items.map(({ price, quantity }) => ({ price, quantity })) }
      : {}),
  }
}
