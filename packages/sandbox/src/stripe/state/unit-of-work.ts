import { copyJson } from '../../core/store/copy-json.ts'
import { changes } from '../wire/changes.ts'
import { noSuch, StripeFault } from '../wire/errors.ts'
import type { OldWay } from '../wire/old-ways.ts'
import type { WireObject } from '../wire/wire-object.ts'
import type { StripeContext } from './context.ts'
import { nowOf } from './context.ts'
import { forgetOldEvents, recordEvents } from './events.ts'
import type { EventRequest, NewEvent } from './new-event.ts'
import { copyRow, render } from './render.ts'
import type { Kind, Rows } from './rows.ts'
import type { Tables } from './tables.ts'
import { clockAbout } from './test-clocks.ts'

/** Kinds whose every change Stripe announces, and with what. */
const UPDATED_EVENTS: Partial<Record<Kind, string>> = {
  'billing.meter': 'billing.meter.updated',
  'billing_portal.configuration': 'billing_portal.configuration.updated',
  charge: 'charge.updated',
  coupon: 'coupon.updated',
  credit_note: 'credit_note.updated',
  customer: 'customer.updated',
  dispute: 'charge.dispute.updated',
  invoice: 'invoice.updated',
  payment_method: 'payment_method.updated',
  price: 'price.updated',
  product: 'product.updated',
  promotion_code: 'promotion_code.updated',
  refund: 'refund.updated',
  subscription: 'customer.subscription.updated',
  subscription_schedule: 'subscription_schedule.updated',
  tax_rate: 'tax_rate.updated',
}

interface Touched {
  kind: Kind
  id: string
  /** The row before, to put back; null for a new one. */
  before: Rows[Kind] | null
  /** The object as it was last told to the world; null when it never was. */
  told: WireObject | null
  inserted: boolean
  /** `edit` was called for it, in this step. */
  edited: boolean
  /** Changed only in ways Stripe announces to nobody. */
  quiet: boolean
  /** Another row with this id: a product and a coupon may be called the same. */
  namesake: Touched | undefined
}

export interface StepOptions {
  readonly request?: EventRequest | null
  readonly cause?: 'call' | 'time'
  /** Ids of what it is about: the first that lives by a test clock says what time it is. */
  readonly about?: readonly string[]
  /** The same, where the clock is known. */
  readonly testClock?: string | null
  /** What the version of a call allows. Whatever else happens was agreed to before, by a call of any version. */
  readonly oldWays?: ReadonlySet<OldWay>
}

/** What indexes and events need of these only changes through `edit`, so an unedited one needs no second look. */
const MADE_WHOLE: ReadonlySet<Kind> = new Set([
  'balance_transaction',
  'charge',
  'invoice_payment',
  'line_item',
  'refund',
])

/**
 * One step: a request, or one thing falling due. Rows are edited through it, because it
 * tells what changed, announces that as events, and puts everything back when the step is refused.
 */
export class UnitOfWork {
  readonly context: StripeContext
  readonly tables: Tables
  /** The test clock it happens by: that of the customer it is about. Null for the sandbox's own. */
  readonly testClock: string | null
  /** The time on that clock. */
  readonly now: number
  /** The sandbox's own time. Payments and events happen in it, whatever clock their customer lives by. */
  readonly sandboxNow: number
  /** What time brings was agreed to before: it is not checked again like a new wish. */
  readonly cause: 'call' | 'time'
  readonly #oldWays: ReadonlySet<OldWay> | null
  readonly #request: EventRequest | null
  readonly #touched: Touched[] = []
  readonly #byId = new Map<string, Touched>()
  readonly #events: NewEvent[] = []

  constructor(context: StripeContext, options: StepOptions = {}) {
    this.context = context
    this.tables = context.tables
    this.testClock = options.testClock ?? firstClock(context.tables, options.about ?? [])
    this.now = nowOf(context, this.testClock)
    this.sandboxNow = nowOf(context)
    this.#request = options.request ?? null
    this.cause = options.cause ?? 'call'
    this.#oldWays = options.oldWays ?? null
  }

  allows(way: OldWay): boolean {
    return this.#oldWays?.has(way) ?? true
  }

  newId(prefix: string, length = 24): string {
    return this.context.store.nextId(prefix, length)
  }

  find<K extends Kind>(kind: K, id: string): Rows[K] | undefined {
    return this.tables[kind].get(id) as Rows[K] | undefined
  }

  /** Throws Stripe's "No such …", naming the parameter that held the id. */
  require<K extends Kind>(kind: K, id: string, param = 'id'): Rows[K] {
    const row = this.find(kind, id)
    if (!row) throw noSuch(NOUNS[kind] ?? kind, id, param)
    return row
  }

  /** Rows that point at another, oldest first. */
  findBy<K extends Kind>(kind: K, index: string, value: string): Rows[K][] {
    return this.tables[kind].findBy(index, value) as Rows[K][]
  }

  insert<K extends Kind>(kind: K, row: Rows[K], event?: string): Rows[K] {
    this.#set(kind, row)
    this.#touch({
      kind,
      id: row.id,
      before: null,
      told: null,
      inserted: true,
      edited: false,
      quiet: false,
      namesake: undefined,
    })
    if (event) this.emit(event, kind, row)
    return row
  }

  /** Call before changing a row. */
  edit<K extends Kind>(kind: K, row: Rows[K]): Rows[K] {
    const known = this.#find(kind, row.id)
    if (known) {
      known.edited = true
      if (known.quiet) this.#announceFromNow(known, row)
      return row
    }
    // A subscription shows its items, an invoice its lines: changing one changes the other.
    if (kind === 'subscription_item')
      this.#editOwner('subscription', row as Rows['subscription_item'])
    if (kind === 'line_item') this.#editOwner('invoice', row as Rows['line_item'])
    this.#touch({
      kind,
      id: row.id,
      before: copyRow(kind, row),
      told: UPDATED_EVENTS[kind] ? render(kind, row, this.tables) : null,
      inserted: false,
      edited: true,
      quiet: false,
      namesake: undefined,
    })
    return row
  }

  /** As `edit`, for a change that is no event of its own, such as the customer's next number. */
  editQuietly<K extends Kind>(kind: K, row: Rows[K]): Rows[K] {
    if (this.#find(kind, row.id)) return row
    this.#touch({
      kind,
      id: row.id,
      before: copyRow(kind, row),
      told: null,
      inserted: false,
      edited: true,
      quiet: true,
      namesake: undefined,
    })
    return row
  }

  remove<K extends Kind>(kind: K, row: Rows[K]): void {
    this.edit(kind, row)
    this.tables[kind].delete(row.id)
  }

  /** Announces the row as it is now; later changes in this step are announced as an update. */
  emit<K extends Kind>(
    types: string | readonly string[],
    kind: K,
    row: Rows[K],
    previous: NewEvent['previous'] = null,
  ): void {
    const data = render(kind, row, this.tables)
    for (const type of typeof types === 'string' ? [types] : types) {
      this.#events.push({ type, data, previous })
    }
    const touched = this.#find(kind, row.id)
    if (touched) touched.told = data
  }

  /** The place of the next event. */
  get eventCount(): number {
    return this.#events.length
  }

  /** As `emit`, for what came before other events and is told when it is whole. */
  emitAt<K extends Kind>(place: number, type: string, kind: K, row: Rows[K]): void {
    this.emit(type, kind, row)
    this.#events.splice(place, 0, ...this.#events.splice(-1))
  }

  /** Announces something that is not (or no longer) in a table. */
  emitObject(type: string, object: object): void {
    this.#events.push({ type, data: copyJson(object) as WireObject, previous: null })
  }

  commit(): void {
    for (const touched of this.#touched) {
      if (!touched.edited && MADE_WHOLE.has(touched.kind)) continue
      const row = this.tables[touched.kind].get(touched.id) as Rows[Kind] | undefined
      if (!row) continue
      this.#set(touched.kind, row)
      const updated = UPDATED_EVENTS[touched.kind]
      if (!updated || touched.told === null) continue
      const now = render(touched.kind, row, this.tables)
      // Its end was announced as such.
      if (now.deleted === true) continue
      const previous = changes(touched.told, now)
      if (previous !== null) this.#events.push({ type: updated, data: now, previous })
    }
    if (this.#events.length > 0) {
      forgetOldEvents(this.context)
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

  #find(kind: Kind, id: string): Touched | undefined {
    let found = this.#byId.get(id)
    while (found && found.kind !== kind) found = found.namesake
    return found
  }

  #touch(touched: Touched): void {
    touched.namesake = this.#byId.get(touched.id)
    this.#byId.set(touched.id, touched)
    this.#touched.push(touched)
  }

  #clear(): void {
    this.#touched.length = 0
    this.#byId.clear()
    this.#events.length = 0
  }

  #announceFromNow<K extends Kind>(touched: Touched, row: Rows[K]): void {
    touched.quiet = false
    if (!UPDATED_EVENTS[touched.kind]) return
    touched.told = render(touched.kind as K, row, this.tables)
  }

  #editOwner(kind: 'subscription' | 'invoice', row: { subscription?: unknown; invoice?: unknown }) {
    const owner = this.tables[kind].get(String(row[kind]))
    if (owner) this.edit(kind, owner as Rows[typeof kind])
  }

  #set<K extends Kind>(kind: K, row: Rows[K]): void {
    ;(this.tables[kind] as { set(key: string, row: Rows[K]): void }).set(row.id, row)
  }
}

/** How Stripe calls a kind in "No such …". */
const NOUNS: Partial<Record<Kind, string>> = {
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
 * Does a step whole or not at all: what is refused leaves no trace, unless a payment was really
 * attempted.
 */
export function inOneStep<T>(work: UnitOfWork, step: (work: UnitOfWork) => T): T {
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

/** Does what time brings on a test clock, or on the sandbox's own, in one step. */
export function workInTime<T>(
  context: StripeContext,
  testClock: string | null,
  step: (work: UnitOfWork) => T,
): T {
  return inOneStep(new UnitOfWork(context, { testClock, cause: 'time' }), step)
}

function firstClock(tables: Tables, ids: readonly string[]): string | null {
  for (const id of ids) {
    const clock = clockAbout(tables, id)
    if (clock !== null) return clock
  }
  return null
}
