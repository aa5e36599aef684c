import { copyJson } from '../../core/store/copy-json.ts'
import { createNoSuchObjectFault, StripeFault } from '../wire/errors.ts'
import type { LegacyFeature } from '../wire/legacy-features.ts'
import { findPreviousAttributes } from '../wire/previous-attributes.ts'
import type { WireObject } from '../wire/wire-object.ts'
import { splitWords } from '../wire/words.ts'
import { readClockTime, type StripeContext } from './context.ts'
import { deleteOldEvents, recordEvents } from './events.ts'
import type { EventRequest, NewEvent } from './new-event.ts'
import { copyRow, renderRow } from './render.ts'
import type { RowKind, StripeRows } from './rows.ts'
import type { StripeTables } from './tables.ts'
import { findTestClock } from './test-clocks.ts'

/** Kinds for which Stripe emits an event on every update, with its type. */
const UPDATED_EVENTS: Partial<Record<RowKind, string>> = {
  ...Object.fromEntries(
    splitWords(`
      billing.meter billing_portal.configuration charge coupon credit_note customer invoice
      payment_method price product promotion_code refund subscription_schedule tax_rate
    `).map((kind) => [kind, `${kind}.updated`]),
  ),
  dispute: 'charge.dispute.updated',
  subscription: 'customer.subscription.updated',
}

interface TouchedRow {
  kind: RowKind
  id: string
  /** The row before the unit of work, for rollback. `null` for a new row. */
  before: StripeRows[RowKind] | null
  /** The object as last reported by an event. `null` if it was not reported. */
  reported: WireObject | null
  inserted: boolean
  /** Whether `edit` was called for the row in this unit of work. */
  edited: boolean
  /** Whether all changes so far were registered with `editQuietly`, which causes no event. */
  quiet: boolean
  /** Another row with the same id and another kind, such as a product and a coupon. */
  namesake: TouchedRow | undefined
}

export interface UnitOfWorkOptions {
  readonly request?: EventRequest | null
  readonly cause?: 'call' | 'time'
  /**
   * Ids of the objects that the unit of work is about. The first id that belongs to a test clock
   * determines the clock of the unit of work.
   */
  readonly about?: readonly string[]
  /**
   * Id of the test clock on which the unit of work runs, if the caller knows it. `null` for the
   * sandbox's own clock.
   */
  readonly testClock?: string | null
  /**
   * Features of older API versions that the step may use. By default all features, because a step
   * may continue an earlier call of any version.
   */
  readonly legacyFeatures?: ReadonlySet<LegacyFeature>
}

/**
 * Kinds whose indexes and events depend only on changes made with `edit`, so unedited rows need no
 * check on commit.
 */
const COMPLETE_ON_INSERT: ReadonlySet<RowKind> = new Set([
  'balance_transaction',
  'charge',
  'invoice_payment',
  'line_item',
  'refund',
])

/**
 * One atomic unit of work: an API call or one due job. Rows must be edited through the unit of
 * work, which records the changes, emits the events for them, and rolls everything back if it fails.
 */
export class UnitOfWork {
  readonly context: StripeContext
  readonly tables: StripeTables
  /**
   * Id of the test clock of the customer that the step is about. `null` for the sandbox's own
   * clock.
   */
  readonly testClock: string | null
  /** Time of the step in Unix seconds, on the customer's test clock or the sandbox's own clock. */
  readonly now: number
  /** Time of the sandbox's own clock in Unix seconds. Payments and events always use this clock. */
  readonly sandboxNow: number
  /**
   * Whether an API call or the clock caused the step. Scheduled work is not validated again,
   * because it was validated when it was requested.
   */
  readonly cause: 'call' | 'time'
  readonly #oldWays: ReadonlySet<LegacyFeature> | null
  readonly #request: EventRequest | null
  readonly #touched: TouchedRow[] = []
  readonly #byId = new Map<string, TouchedRow>()
  readonly #events: NewEvent[] = []

  constructor(context: StripeContext, options: UnitOfWorkOptions = {}) {
    this.context = context
    this.tables = context.tables
    this.testClock = options.testClock ?? findFirstTestClock(context.tables, options.about ?? [])
    this.now = readClockTime(context, this.testClock)
    this.sandboxNow = readClockTime(context)
    this.#request = options.request ?? null
    this.cause = options.cause ?? 'call'
    this.#oldWays = options.legacyFeatures ?? null
  }

  supportsLegacyFeature(way: LegacyFeature): boolean {
    return this.#oldWays?.has(way) ?? true
  }

  newId(prefix: string, length = 24): string {
    return this.context.store.nextId(prefix, length)
  }

  find<K extends RowKind>(kind: K, id: string): StripeRows[K] | undefined {
    return this.tables[kind].get(id) as StripeRows[K] | undefined
  }

  /**
   * Returns the row with this id. `param` is the name of the parameter that contained the id, for
   * error messages.
   * @throws {StripeFault} Stripe's "No such …" if there is no row with this id.
   */
  require<K extends RowKind>(kind: K, id: string, param = 'id'): StripeRows[K] {
    const row = this.find(kind, id)
    if (!row) throw this.createNoSuchFault(kind, id, param)
    return row
  }

  /**
   * Returns the row with this id, unless the object is deleted. (Rows of deleted objects can
   * remain, because others refer to them.)
   * @throws {StripeFault} Stripe's "No such …" if there is no row with this id, or the object is
   * deleted.
   */
  requireLive<K extends RowKind>(kind: K, id: string, param = 'id'): StripeRows[K] {
    const row = this.require(kind, id, param)
    if ((row as { $?: { deleted?: boolean } }).$?.deleted)
      throw this.createNoSuchFault(kind, id, param)
    return row
  }

  createNoSuchFault(kind: RowKind, id: string, param = 'id'): StripeFault {
    return createNoSuchObjectFault(NOUNS[kind] ?? kind, id, param)
  }

  /** Returns the rows of a kind that have this value in an index, oldest first. */
  findBy<K extends RowKind>(kind: K, index: string, value: string): StripeRows[K][] {
    return this.tables[kind].findBy(index, value) as StripeRows[K][]
  }

  insert<K extends RowKind>(kind: K, row: StripeRows[K], event?: string): StripeRows[K] {
    this.#set(kind, row)
    this.#touch(kind, row.id, { inserted: true })
    if (event) this.emit(event, kind, row)
    return row
  }

  /**
   * Registers a row that is about to be changed, so that the change can be reported by an event and
   * rolled back. Must be called before every change.
   */
  edit<K extends RowKind>(kind: K, row: StripeRows[K]): StripeRows[K] {
    const known = this.#find(kind, row.id)
    if (known) {
      known.edited = true
      if (known.quiet) this.#announceFromNow(known, row)
      return row
    }
    // Subscriptions contain their items and invoices their lines, so a change affects the owner,
    // too.
    if (kind === 'subscription_item')
      this.#editOwner('subscription', row as StripeRows['subscription_item'])
    if (kind === 'line_item') this.#editOwner('invoice', row as StripeRows['line_item'])
    const reported = UPDATED_EVENTS[kind] ? renderRow(kind, row, this.tables) : null
    this.#touch(kind, row.id, { before: copyRow(kind, row), reported })
    return row
  }

  /**
   * Registers a row that is about to be changed without an update event, such as when a customer's
   * next invoice number is increased. The change can be rolled back.
   */
  editQuietly<K extends RowKind>(kind: K, row: StripeRows[K]): StripeRows[K] {
    if (this.#find(kind, row.id)) return row
    this.#touch(kind, row.id, { before: copyRow(kind, row), quiet: true })
    return row
  }

  remove<K extends RowKind>(kind: K, row: StripeRows[K]): void {
    this.edit(kind, row)
    this.tables[kind].delete(row.id)
  }

  /**
   * Emits one or more events with the present state of a row. Later changes of the row in this step
   * cause an update event.
   */
  emit<K extends RowKind>(
    types: string | readonly string[],
    kind: K,
    row: StripeRows[K],
    previous: NewEvent['previous'] = null,
  ): void {
    const data = renderRow(kind, row, this.tables)
    for (const type of typeof types === 'string' ? [types] : types) {
      this.#events.push({ type, data, previous })
    }
    const touched = this.#find(kind, row.id)
    if (touched) touched.reported = data
  }

  /** Number of events that the step has emitted so far, which is the position of the next event. */
  get eventCount(): number {
    return this.#events.length
  }

  /**
   * Emits an event at an earlier position in the step's list of events, for an object that is
   * complete only now.
   */
  insertEventAt<K extends RowKind>(place: number, type: string, kind: K, row: StripeRows[K]): void {
    this.emit(type, kind, row)
    this.#events.splice(place, 0, ...this.#events.splice(-1))
  }

  /** Emits an event about an object that is in no table, or no longer in one. */
  emitObject(type: string, object: object): void {
    this.#events.push({ type, data: copyJson(object) as WireObject, previous: null })
  }

  commit(): void {
    for (const touched of this.#touched) {
      if (!touched.edited && COMPLETE_ON_INSERT.has(touched.kind)) continue
      const row = this.tables[touched.kind].get(touched.id) as StripeRows[RowKind] | undefined
      if (!row) continue
      this.#set(touched.kind, row)
      const updated = UPDATED_EVENTS[touched.kind]
      if (!updated || touched.reported === null) continue
      const now = renderRow(touched.kind, row, this.tables)
      // The deletion has its own event.
      if (now.deleted === true) continue
      const previous = findPreviousAttributes(touched.reported, now)
      if (previous !== null) this.#events.push({ type: updated, data: now, previous })
    }
    if (this.#events.length > 0) {
      deleteOldEvents(this.context)
      const at = this.now === this.sandboxNow ? null : this.now
      recordEvents(this.context, this.#events, this.#request, at)
    }
    this.#clear()
  }

  rollback(): void {
    for (const { kind, id, before, inserted } of this.#touched.toReversed()) {
      if (inserted) this.tables[kind].delete(id)
      else if (before !== null) this.#set(kind, before)
    }
    this.#clear()
  }

  #find(kind: RowKind, id: string): TouchedRow | undefined {
    let found = this.#byId.get(id)
    while (found && found.kind !== kind) found = found.namesake
    return found
  }

  #touch(
    kind: RowKind,
    id: string,
    { before = null, reported = null, inserted = false, quiet = false }: Partial<TouchedRow>,
  ): void {
    const namesake = this.#byId.get(id)
    const touched = { kind, id, before, reported, inserted, edited: !inserted, quiet, namesake }
    this.#byId.set(id, touched)
    this.#touched.push(touched)
  }

  #clear(): void {
    this.#touched.length = 0
    this.#byId.clear()
    this.#events.length = 0
  }

  #announceFromNow<K extends RowKind>(touched: TouchedRow, row: StripeRows[K]): void {
    touched.quiet = false
    if (!UPDATED_EVENTS[touched.kind]) return
    touched.reported = renderRow(touched.kind as K, row, this.tables)
  }

  #editOwner(kind: 'subscription' | 'invoice', row: { subscription?: unknown; invoice?: unknown }) {
    const owner = this.tables[kind].get(String(row[kind]))
    if (owner) this.edit(kind, owner as StripeRows[typeof kind])
  }

  #set<K extends RowKind>(kind: K, row: StripeRows[K]): void {
    ;(this.tables[kind] as { set(key: string, row: StripeRows[K]): void }).set(row.id, row)
  }
}

/** Nouns that Stripe uses in "No such …", where they differ from the kind. */
const NOUNS: Partial<Record<RowKind, string>> = {
  'billing.meter': 'billing meter',
  balance_transaction: 'balance transaction',
  payment_method: 'PaymentMethod',
  tax_rate: 'tax rate',
  promotion_code: 'promotion code',
  subscription_item: 'subscription_item',
  webhook_endpoint: 'webhook endpoint',
  'test_helpers.test_clock': 'test clock',
  'checkout.session': 'checkout.session',
}

/**
 * Runs a step atomically: commits its changes, or rolls them back if it throws an error. The
 * changes of a failed payment attempt are committed.
 */
export function runAtomically<T>(work: UnitOfWork, step: (work: UnitOfWork) => T): T {
  try {
    const result = step(work)
    work.commit()
    return result
  } catch (error) {
    if (error instanceof StripeFault && error.keepsChanges) work.commit()
    else work.rollback()
    throw error
  } finally {
    work.context.store.packOld()
  }
}

/** Runs a unit of work, rolls all its changes back, and returns its result. */
export function dryRun<T>(
  context: StripeContext,
  options: UnitOfWorkOptions,
  run: (trial: UnitOfWork) => T,
): T {
  const trial = new UnitOfWork(context, options)
  try {
    return run(trial)
  } finally {
    trial.rollback()
  }
}

/**
 * Runs scheduled work as one step on a test clock, or on the sandbox's own clock if `testClock` is
 * `null`.
 */
export function runScheduled<T>(
  context: StripeContext,
  testClock: string | null,
  step: (work: UnitOfWork) => T,
): T {
  return runAtomically(new UnitOfWork(context, { testClock, cause: 'time' }), step)
}

function findFirstTestClock(tables: StripeTables, ids: readonly string[]): string | null {
  for (const id of ids) {
    const clock = findTestClock(tables, id)
    if (clock !== null) return clock
  }
  return null
}
