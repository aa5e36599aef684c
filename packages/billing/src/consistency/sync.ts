import type { BillingContext } from '../context.ts'
import type { ReadingGateway } from '../gateways/contract/gateway.ts'
import type { ProviderSubscription } from '../gateways/contract/subscription.ts'
import type { BilledOwner, NewSubscriptionRecord, SubscriptionRecord } from '../storage/tables.ts'
import type { Owner } from '../values/owner.ts'
import { DEFAULT_NAME } from '../values/subscription-name.ts'
import { syncCard } from './cards/sync-card.ts'
import { isSame, putBack, store, toRecord } from './converge.ts'
import {
  type Drift,
  type DriftReport,
  failureOf,
  type SyncFailure,
  type SyncOptions,
} from './drift.ts'
import { type LockedOwner, withOwnerLock } from './owner-lock.ts'
import { resumeInterrupted } from './resume-interrupted.ts'
import { syncDisputes } from './settle-dispute.ts'
import { syncDeletedOwners } from './sync-deleted-owners.ts'

const BATCH = 100

/** Every owner that has a customer, and those who are gone. Can be run again at any time. */
export async function syncAll(context: BillingContext, options: SyncOptions): Promise<DriftReport> {
  const drift: Drift[] = []
  const failures: SyncFailure[] = []
  let users = 0
  for await (const { owner } of listCustomers(context)) {
    users += 1
    try {
      const report = await syncOwner(context, owner, options)
      drift.push(...report.drift)
      failures.push(...report.failures)
    } catch (error) {
      failures.push(failureOf(owner, error))
    }
  }
  const gone = await syncDeletedOwners(context, options)
  return { users, drift: [...drift, ...gone.drift], failures: [...failures, ...gone.failures] }
}

/** Those of every type, users first. */
async function* listCustomers({ owners }: BillingContext): AsyncGenerator<BilledOwner> {
  for (const type of owners.types) {
    for (let after: string | number | null = null; ; ) {
      const batch: BilledOwner[] = await owners.listCustomers(type, after, BATCH)
      yield* batch
      after = batch.at(-1)?.owner.id ?? null
      if (batch.length < BATCH) break
    }
  }
}

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
    const row = rows.find(({ providerId }) => providerId === found.id)
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
  row: SubscriptionRecord | undefined,
  found: ProviderSubscription,
): Promise<Drift[]> {
  const now = context.options.clock.now()
  const wanted = toRecord({
    found,
    owner: billed.owner,
    name: row?.name ?? found.name ?? DEFAULT_NAME,
    provider: gateway.name,
    before: row ?? null,
    now,
  })
  if (row && isSame(row, wanted)) return []
  if (!dryRun) await store(context, locked, gateway.name, found)
  return [
    {
      owner: billed.owner,
      provider: gateway.name,
      providerId: found.id,
      what: row ? 'outdated row' : 'missing row',
      was: row ? shown(row) : null,
      is: shown(wanted),
    },
  ]
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
