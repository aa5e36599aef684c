import type { BillingContext } from '../../context.ts'
import { requireOwnerTable } from '../../storage/owner-tables.ts'
import type { BilledOwner } from '../../storage/tables.ts'
import { ownerKey } from '../../values/owner.ts'
import {
  type Drift,
  type DriftReport,
  failureOf,
  type SyncFailure,
  type SyncOptions,
} from './drift.ts'
import { syncOwner } from './sync-owner.ts'
import { syncUnowned } from './unowned.ts'

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
  for (let after = 0; ; ) {
    const batch = await context.subscriptions.listLive(context.options.clock.now(), after, BATCH)
    const owners = await context.owners.findMany(batch.map(({ owner }) => owner))
    for (const row of batch) {
      try {
        // One of a type that only other processes know is theirs to look after.
        requireOwnerTable(context.options.owners, row.owner.type)
        const billed = owners.get(ownerKey(row.owner)) ?? null
        const found = await syncUnowned(context, row, billed, options)
        if (found) drift.push(found)
      } catch (error) {
        failures.push(failureOf(row.owner, error))
      }
    }
    after = batch.at(-1)?.id ?? after
    if (batch.length < BATCH) return { users, drift, failures }
  }
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
