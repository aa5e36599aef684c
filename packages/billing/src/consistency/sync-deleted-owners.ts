import type { BillingContext } from '../context.ts'
import type { SubscriptionRecord } from '../storage/tables.ts'
import { awaitsFirstPayment, ended } from '../values/subscription-state.ts'
import { columnsOf, converge } from './converge.ts'
import {
  type Drift,
  type DriftReport,
  failureOf,
  type SyncFailure,
  type SyncOptions,
} from './drift.ts'
import { withOwnerLock } from './owner-lock.ts'
import { abandon } from './settle-first-payment.ts'

const BATCH = 100

/**
 * Subscriptions that run on for owners whom the application has deleted: nobody sees them, and the card is
 * charged. Told, and ended if that is wanted.
 */
export async function syncDeletedOwners(
  context: BillingContext,
  options: SyncOptions,
): Promise<Pick<DriftReport, 'drift' | 'failures'>> {
  const drift: Drift[] = []
  const failures: SyncFailure[] = []
  for (let after = 0; ; ) {
    const batch = await context.subscriptions.listLive(context.options.clock.now(), after, BATCH)
    for (const row of batch) {
      try {
        if (await context.owners.find(row.owner)) continue
        const found = await tell(context, row, options)
        if (found) drift.push(found)
      } catch (error) {
        failures.push(failureOf(row.owner, error))
      }
    }
    after = batch.at(-1)?.id ?? after
    if (batch.length < BATCH) return { drift, failures }
  }
}

/** Null when it is over at the provider, whatever our row says. */
async function tell(
  context: BillingContext,
  row: SubscriptionRecord,
  { dryRun = false, cancelDeletedUsers = false }: SyncOptions,
): Promise<Drift | null> {
  return withOwnerLock(context, row.owner, async (locked) => {
    const gateway = await locked.gateway(row.provider)
    const found = dryRun
      ? await gateway.findSubscription(row.providerId)
      : await converge(context, locked, row)
    const { owner, provider, providerId, name } = row
    const columns = found && columnsOf(context, provider, found)
    if (!found || !columns || ended(columns, context.options.clock.now())) return null
    if (cancelDeletedUsers && !dryRun) {
      if (awaitsFirstPayment(columns)) await abandon(locked, provider, found)
      await locked.change(provider, (changing) => changing.cancelNow(found.id))
      await converge(context, locked, row)
    }
    const was = { name, plan: found.plan, status: found.status }
    const after = cancelDeletedUsers && !dryRun ? await gateway.findSubscription(providerId) : found
    return {
      owner,
      provider,
      providerId,
      what: 'user deleted',
      was,
      is: { ...was, status: after?.status ?? null },
    }
  })
}
