import { resumeInterrupted, withOwnerLock } from '../../core/owner-lock.ts'
import { requireOwnerTable } from '../../core/storage/owner-tables.ts'
import type { BilledOwner } from '../../core/storage/tables.ts'
import { formatOwnerKey, type Owner } from '../../core/values/owner.ts'
import type { ReadOnlyGateway } from '../../providers/gateway.ts'
import type { ProviderChange } from './contract.ts'
import { findDifferingOwners, findOwnersWithDifferingDisputes } from './suspects.ts'
import type { SyncRun } from './sync-run.ts'
import { reportUnownedSubscription } from './unowned.ts'

/**
 * A phase of `sync()`, such as comparing the provider's list of customers. It runs step by step, so
 * that it can be resumed.
 */
export interface SyncPhase {
  readonly name: string
  /**
   * Runs the step at this position (`null` for the first), and returns the position of the next
   * step, `null` after the last. Repeating a step has no further effect.
   */
  step(at: string | null): Promise<string | null>
}

const BATCH = 100
const DAY = 86_400_000

/**
 * Lists the phases of a `sync()`: first comparing the lists of each provider, then reading rows
 * that no list contained, then finishing the operations that a crashed process has left.
 */
export async function listSyncPhases(run: SyncRun): Promise<SyncPhase[]> {
  const phases: SyncPhase[] = []
  for (const { name } of run.context.options.providers.all) {
    // Without customers of ours there is nothing to compare, even if other applications use the
    // account.
    if ((await run.context.owners.countCustomers(name)) > 0)
      phases.push(...(await listProviderPhases(run, name)))
  }
  return [...phases, createRowsPhase(run), ...(run.dryRun ? [] : [createOperationsPhase(run)])]
}

async function listProviderPhases(
  run: SyncRun,
  name: ReadOnlyGateway['name'],
): Promise<SyncPhase[]> {
  let gateway: ReadOnlyGateway
  try {
    gateway = await run.context.gateway(name)
  } catch (error) {
    // A phase that fails keeps the position before this provider. A resumed run does not find the
    // phase, and starts from the beginning.
    return [{ name, step: () => Promise.reject(error) }]
  }
  const { lists } = gateway
  const all = lists?.readPage
    ? createAccountPhase(run, gateway, lists)
    : createOwnersPhase(run, gateway, lists)
  if (!lists) return [all]
  const first = hasChanges(run, lists) ? createChangesPhase(run, gateway, lists, all) : all
  return [first, createDisputesPhase(run, gateway, lists)]
}

type Lists = NonNullable<ReadOnlyGateway['lists']>

/** Whether the provider still lists every change since the requested time. */
function hasChanges({ since, context }: SyncRun, lists: Lists): boolean {
  if (since === null || !lists.readChanges) return false
  const kept = (lists.changesKeptDays ?? 0) * DAY
  return since.getTime() > context.options.clock.now().getTime() - kept
}

/**
 * Estimated number of requests to read one owner. Reading the owners one by one can take fewer
 * requests than listing the account, because an account that other applications share may contain
 * far more objects than ours.
 */
const REQUESTS_PER_OWNER = 3
const FEWEST_PAGES = 10

/**
 * Compares the whole account page by page, or owner by owner as soon as that takes fewer requests.
 */
function createAccountPhase(run: SyncRun, gateway: ReadOnlyGateway, lists: Lists): SyncPhase {
  const { name } = gateway
  const byOwner = createOwnersPhase(run, gateway, undefined)
  const OWNERS = 'owners:'
  return {
    name: `${name} pages`,
    async step(at) {
      if (at?.startsWith(OWNERS)) {
        const next = await byOwner.step(at.slice(OWNERS.length) || null)
        return next === null ? null : `${OWNERS}${next}`
      }
      const [read, after] = at === null ? [0, null] : (JSON.parse(at) as [number, string | null])
      const found = await lists.readPage?.(after)
      if (!found) return null
      const { suspects, rows } = await findDifferingOwners(run.context, name, found)
      for (const { id } of rows) run.seen.add(id)
      await run.compare(suspects)
      if (found.next === null) {
        run.listed.add(name)
        return null
      }
      const ours = await run.context.owners.countCustomers(name)
      const isTooExpensive = read + 1 >= Math.max(FEWEST_PAGES, REQUESTS_PER_OWNER * ours)
      return isTooExpensive ? OWNERS : JSON.stringify([read + 1, found.next])
    },
  }
}

/** Compares our owners in batches, which the provider reads together if it can. */
function createOwnersPhase(
  run: SyncRun,
  gateway: ReadOnlyGateway,
  lists: Lists | undefined,
): SyncPhase {
  const { name } = gateway
  const { owners: repository } = run.context
  const compare = async (batch: readonly BilledOwner[]) => {
    if (batch.length === 0) return
    if (!lists?.readCustomers) return run.compare(batch.map(({ owner }) => owner))
    const ids = batch.flatMap(({ providerId }) => providerId ?? [])
    const { suspects, rows } = await findDifferingOwners(
      run.context,
      name,
      await lists.readCustomers(ids),
    )
    for (const { id } of rows) run.seen.add(id)
    await run.compare(suspects)
  }
  return {
    name: `${name} owners`,
    async step(at) {
      const [type, after] = (at === null ? [repository.types[0], null] : JSON.parse(at)) as [
        string,
        string | number | null,
      ]
      const batch = await repository.listCustomers(type, after, BATCH)
      await compare(batch.filter(({ provider }) => provider === name))
      const last = batch.at(-1)
      if (last && batch.length === BATCH) return JSON.stringify([type, last.owner.id])
      const next = repository.types[repository.types.indexOf(type) + 1]
      if (next !== undefined) return JSON.stringify([next, null])
      if (lists?.readCustomers) run.listed.add(name)
      return null
    },
  }
}

function createDisputesPhase(run: SyncRun, { name }: ReadOnlyGateway, lists: Lists): SyncPhase {
  return {
    name: `${name} disputes`,
    async step(at) {
      const page = await lists.readDisputes(at)
      await run.compare(await findOwnersWithDifferingDisputes(run.context, name, page.disputes))
      return page.next
    },
  }
}

/**
 * Compares the changes that the provider lists, newest first; only the newest change of a
 * subscription counts. Compares everything as soon as that takes fewer requests than reading the
 * owners of the other changes.
 */
function createChangesPhase(
  run: SyncRun,
  { name }: ReadOnlyGateway,
  lists: Lists,
  all: SyncPhase,
): SyncPhase {
  const { context, since } = run
  const newest = new Set<string>()
  const isOlder = ({ subscription }: ProviderChange) => {
    if (!subscription) return false
    const isKnown = newest.has(subscription.id)
    newest.add(subscription.id)
    return isKnown
  }
  const ALL = 'all:'
  let asked = 0
  return {
    name: `${name} changes`,
    async step(at) {
      if (at?.startsWith(ALL)) {
        const next = await all.step(at.slice(ALL.length) || null)
        return next === null ? null : `${ALL}${next}`
      }
      const page = await lists.readChanges?.(since ?? new Date(0), at)
      const changed = (page?.changes ?? []).filter((change) => !isOlder(change))
      const subscriptions = changed.flatMap(({ subscription }) => subscription ?? [])
      const { suspects } = await findDifferingOwners(context, name, {
        customers: [],
        subscriptions,
      })
      await run.compare(suspects)
      const others = await findChangedOwners(
        run,
        name,
        changed.filter(({ subscription }) => !subscription),
      )
      asked += others.length
      const ours = await context.owners.countCustomers(name)
      if (asked * REQUESTS_PER_OWNER > FEWEST_PAGES + (2 * ours) / BATCH) return ALL
      await run.compare(others)
      return page?.next ?? null
    },
  }
}

async function findChangedOwners(
  { context }: SyncRun,
  name: ReadOnlyGateway['name'],
  changed: readonly ProviderChange[],
): Promise<Owner[]> {
  const customers = changed.flatMap(({ customerId }) => customerId ?? [])
  const holders = await context.owners.findByCustomers(name, [...new Set(customers)])
  return [...holders.values()].map(({ owner }) => owner)
}

/** Compares live rows without an owner, and rows that a complete list did not contain. */
function createRowsPhase(run: SyncRun): SyncPhase {
  const { context, options } = run
  return {
    name: 'rows',
    async step(at) {
      const now = context.options.clock.now()
      const batch = await context.subscriptions.listLive(now, Number(at ?? 0), BATCH)
      const found = await context.owners.findMany(batch.map(({ owner }) => owner))
      for (const row of batch) {
        await run.forOwner(row.owner, async () => {
          // Rows of an owner type are processed only where that type is configured.
          requireOwnerTable(context.options.owners, row.owner.type)
          const billed = found.get(formatOwnerKey(row.owner)) ?? null
          const unowned = await reportUnownedSubscription(context, row, billed, options)
          if (unowned) run.drift.push(unowned)
          const isListed = run.listed.has(row.provider) && run.seen.has(row.id)
          const isAskedFor = run.listed.has(row.provider) || !isConfigured(run, row.provider)
          if (billed && isAskedFor && !isListed) await run.compare([row.owner])
        })
      }
      return batch.length === BATCH ? String(batch.at(-1)?.id) : null
    },
  }
}

/**
 * Whether the provider of a row is configured. Otherwise the row cannot be read, which the report
 * mentions.
 */
function isConfigured({ context }: SyncRun, provider: ReadOnlyGateway['name']): boolean {
  return Boolean(context.options.providers.find(provider))
}

/** Finishes operations that a killed process has left. */
function createOperationsPhase(run: SyncRun): SyncPhase {
  const { context } = run
  return {
    name: 'operations',
    async step(at) {
      const batch = await context.operations.listOwners(at ?? '', BATCH)
      const owners = new Map(batch.map(({ owner }) => [formatOwnerKey(owner), owner]))
      for (const owner of owners.values()) {
        if (!context.owners.types.includes(owner.type)) continue
        await run.forOwner(owner, () =>
          withOwnerLock(context, owner, async (locked) => {
            await resumeInterrupted(context, locked)
          }),
        )
      }
      return batch.length === BATCH ? (batch.at(-1)?.id ?? null) : null
    },
  }
}
