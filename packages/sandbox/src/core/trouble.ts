import type { Store } from './store/store.ts'

/**
 * What goes wrong with a call. `429` and `500` refuse it before anything happens. `saved-500` and
 * `made-500` are a 500 that Stripe keeps under the idempotency key and gives again for a day: before
 * anything happened, or after the call took effect (a plain 500 at Braintree, which has no such keys). With `timeout`
 * and `half-written` the call takes effect and only the response is lost, as on a bad network. With
 * `held` it takes effect and the response waits for `release()`: what happens meanwhile comes first.
 */
export type CallTrouble =
  | '429'
  | '500'
  | 'saved-500'
  | 'made-500'
  | 'timeout'
  | 'half-written'
  | 'held'
  | {
      /** The call takes effect at once and its response comes this many real milliseconds later. */
      readonly slowMs: number
    }

/** The same as a provider's call meets it: what is held waits for a promise. */
export type CallFate =
  | Exclude<CallTrouble, 'held'>
  | {
      /** Resolves on `release()`. */
      readonly until: Promise<void>
    }

/** Trouble that waits for its moment. */
export interface PendingTrouble {
  /** In the order they are met; null is whichever provider is called. */
  readonly calls: ReadonlyArray<{ readonly kind: CallTrouble; readonly provider: string | null }>
  /** Of each customer, the codes its next charges are declined with. */
  readonly declines: ReadonlyArray<{
    readonly customer: string
    readonly codes: readonly string[]
  }>
  /** How many responses are being held now. */
  readonly held: number
}

interface CallRow {
  queue: Array<{ kind: CallTrouble; provider: string | null }>
}
interface DeclineRow {
  codes: string[]
}

/**
 * Trouble on demand, consulted by every provider. It is kept in the store, so a snapshot carries
 * what has been ordered and not yet happened.
 */
export class Trouble {
  readonly #store: Store
  /** Responses that are being held; connections, which no snapshot carries. */
  #held: Array<() => void> = []
  #watchers: Array<() => void> = []

  constructor(store: Store) {
    this.#store = store
  }

  /** The next `count` calls (of one provider, or of whichever is called) go wrong. */
  failNext(count: number, kind: CallTrouble, provider: string | null = null): void {
    const row = this.#calls().get('next') ?? { queue: [] }
    for (let i = 0; i < count; i++) row.queue.push({ kind, provider })
    this.#calls().set('next', row)
  }

  /** What befalls this call. A provider takes it once per call. */
  takeCallTrouble(provider: string): CallFate | null {
    const row = this.#calls().get('next')
    if (!row || row.queue.length === 0) return null
    const at = row.queue.findIndex((next) => next.provider === null || next.provider === provider)
    if (at < 0) return null
    const [taken] = row.queue.splice(at, 1)
    this.#calls().set('next', row)
    if (taken?.kind !== 'held') return taken?.kind ?? null
    return { until: this.#hold() }
  }

  /**
   * The next charge of this customer is declined with the provider's own code: at Stripe a decline
   * code such as `insufficient_funds`, at Braintree a processor response code such as `2001`.
   */
  declineNextCharge(customerId: string, code: string): void {
    const row = this.#declines().get(customerId) ?? { codes: [] }
    row.codes.push(code)
    this.#declines().set(customerId, row)
  }

  /** The code the next charge of the customer is declined with. A provider takes it once per charge. */
  takeDecline(customerId: string): string | null {
    const row = this.#declines().get(customerId)
    const code = row?.codes.shift()
    if (row && code !== undefined) this.#declines().set(customerId, row)
    return code ?? null
  }

  /** What has been ordered and not yet happened; looking takes nothing. */
  pending(): PendingTrouble {
    const declines = [...this.#declines().entries()]
    return {
      calls: [...(this.#calls().get('next')?.queue ?? [])],
      declines: declines.flatMap(([customer, { codes }]) =>
        codes.length > 0 ? [{ customer, codes: [...codes] }] : [],
      ),
      held: this.#held.length,
    }
  }

  /** Resolves when a call has taken effect and its response is held. */
  async untilHeld(): Promise<void> {
    if (this.#held.length === 0) await new Promise<void>((resolve) => this.#watchers.push(resolve))
  }

  /** Sends the responses that are held. */
  release(): void {
    for (const send of this.#held.splice(0)) send()
  }

  /** Forgets all trouble not yet taken, and sends the responses that are held. */
  clear(): void {
    this.release()
    this.#calls().clear()
    this.#declines().clear()
  }

  #hold(): Promise<void> {
    const until = new Promise<void>((resolve) => this.#held.push(resolve))
    // After the call itself, which the provider handles without a pause.
    setImmediate(() => {
      // Whoever took it may have let go of it again.
      if (this.#held.length === 0) return
      for (const tell of this.#watchers.splice(0)) tell()
    })
    return until
  }

  #calls() {
    return this.#store.table<CallRow>('trouble.calls')
  }

  #declines() {
    return this.#store.table<DeclineRow>('trouble.declines')
  }
}
