import type { Store } from './store/store.ts'

/**
 * A fault to inject into an API call.
 * - `429` and `500` refuse the call before it has any effect.
 * - `saved-500` and `made-500` respond with a 500 that Stripe stores under the idempotency key and
 * replays for a day: `saved-500` without any effect, `made-500` after the call took effect.
 * Braintree has no such keys; there both are a plain 500.
 * - `timeout` and `half-written` let the call take effect and lose only the response: it is never
 * sent, or cut off in the middle.
 * - `held` lets the call take effect and holds its response until `release()`, so that a test can
 * act in between.
 * - `{ slowMs }` lets the call take effect and delays the response.
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
      /** Delay of the response in real milliseconds. */
      readonly slowMs: number
    }

/** The fault as a provider applies it to a call: `held` is replaced by a promise to wait for. */
export type CallFate =
  | Exclude<CallTrouble, 'held'>
  | {
      /** Resolves when `release()` is called. */
      readonly until: Promise<void>
    }

/** Injected faults that have not happened yet. */
export interface PendingTrouble {
  /**
   * Faults for upcoming calls, in order. A `provider` of `null` means the next call to either one.
   */
  readonly calls: ReadonlyArray<{ readonly kind: CallTrouble; readonly provider: string | null }>
  /** Decline codes for the next charges of each customer. */
  readonly declines: ReadonlyArray<{
    readonly customer: string
    readonly codes: readonly string[]
  }>
  /** Number of responses that are held until `release()` is called. */
  readonly held: number
}

interface CallRow {
  queue: Array<{ kind: CallTrouble; provider: string | null }>
}
interface DeclineRow {
  codes: string[]
}

/**
 * Injects faults into the providers. Pending faults are stored with the state, so snapshots contain
 * them.
 */
export class Trouble {
  readonly #store: Store
  /** Senders of the held responses. Not in snapshots, because these are open connections. */
  #held: Array<() => void> = []
  #watchers: Array<() => void> = []

  constructor(store: Store) {
    this.#store = store
  }

  /** Injects a fault into the next `count` calls: to `provider`, or to either one without it. */
  failNext(count: number, kind: CallTrouble, provider: string | null = null): void {
    const row = this.#calls().get('next') ?? { queue: [] }
    for (let i = 0; i < count; i++) row.queue.push({ kind, provider })
    this.#calls().set('next', row)
  }

  /** Takes the fault for a call. `null` if there is none. Providers call it once per call. */
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
   * Declines this customer's next charge with the provider's own code: at Stripe a decline code
   * such as `insufficient_funds`, at Braintree a processor response code such as `2001`. Several
   * calls decline several charges.
   */
  declineNextCharge(customerId: string, code: string): void {
    const row = this.#declines().get(customerId) ?? { codes: [] }
    row.codes.push(code)
    this.#declines().set(customerId, row)
  }

  /**
   * Takes the decline code for a customer's next charge. `null` if there is none. Providers call it
   * once per charge.
   */
  takeDecline(customerId: string): string | null {
    const row = this.#declines().get(customerId)
    const code = row?.codes.shift()
    if (row && code !== undefined) this.#declines().set(customerId, row)
    return code ?? null
  }

  /** Returns the faults that have not happened yet, without taking them. */
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

  /** Sends the held responses. */
  release(): void {
    for (const send of this.#held.splice(0)) send()
  }

  /** Removes all pending faults and sends the held responses. */
  clear(): void {
    this.release()
    this.#calls().clear()
    this.#declines().clear()
  }

  #hold(): Promise<void> {
    const until = new Promise<void>((resolve) => this.#held.push(resolve))
    // Deferred until the call has taken effect: providers handle calls synchronously.
    setImmediate(() => {
      // The response may have been released in the meantime.
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
