import type { SandboxStore } from './store/store.ts'

/**
 * A fault to inject into an API call.
 * - `429` and `500` reject the call before it has any effect.
 * - `saved-500` and `made-500` respond with a 500 that Stripe stores under the idempotency key and
 * replays for a day: `saved-500` without any effect, `made-500` after the call took effect.
 * Braintree has no idempotency keys, so it does not replay these responses.
 * - `timeout` and `half-written` let the call take effect and lose only the response: it is never
 * sent, or cut off in the middle.
 * - `held` lets the call take effect and holds its response until `release()`, so that a test can
 * act in between.
 * - `{ slowMs }` lets the call take effect and delays the response.
 */
export type CallFault =
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

/**
 * A simulated failure as a provider applies it to an API call: the same as `CallFault`, except
 * that `held` is replaced by a promise to wait for.
 */
export type AppliedCallFault =
  | Exclude<CallFault, 'held'>
  | {
      /** Resolves when `release()` is called. */
      readonly until: Promise<void>
    }

/** Simulated failures that have not happened yet. */
export interface PendingFaults {
  /**
   * Simulated failures of upcoming API calls, in order. If `provider` is `null`, the next call to
   * either provider fails.
   */
  readonly calls: ReadonlyArray<{ readonly kind: CallFault; readonly provider: string | null }>
  /** Decline codes for the next charges of each customer. */
  readonly declines: ReadonlyArray<{
    readonly customer: string
    readonly codes: readonly string[]
  }>
  /** Number of responses that are held back until `release()` is called. */
  readonly held: number
}

interface CallRow {
  queue: Array<{ kind: CallFault; provider: string | null }>
}
interface DeclineRow {
  codes: string[]
}

/**
 * Simulates failures of API calls and charges. Failures that have not happened yet are stored with
 * the state, so snapshots contain them.
 */
export class FailureSimulator {
  readonly #store: SandboxStore
  /**
   * Functions that send the responses that are held back. Not part of snapshots, because these are
   * open connections.
   */
  #held: Array<() => void> = []
  #watchers: Array<() => void> = []

  constructor(store: SandboxStore) {
    this.#store = store
  }

  /**
   * Makes the next `count` API calls fail in the given way: the calls to `provider`, or to either
   * provider if it is `null`.
   */
  failNext(count: number, kind: CallFault, provider: string | null = null): void {
    const row = this.#calls().get('next') ?? { queue: [] }
    for (let i = 0; i < count; i++) row.queue.push({ kind, provider })
    this.#calls().set('next', row)
  }

  /**
   * Removes and returns the simulated failure for a provider's next API call. `null` if there is
   * none. The provider calls it once per API call.
   */
  takeCallTrouble(provider: string): AppliedCallFault | null {
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
   * Removes and returns the decline code for a customer's next charge. `null` if there is none.
   * Providers call it once per charge.
   */
  takeDecline(customerId: string): string | null {
    const row = this.#declines().get(customerId)
    const code = row?.codes.shift()
    if (row && code !== undefined) this.#declines().set(customerId, row)
    return code ?? null
  }

  /** Returns the simulated failures that have not happened yet, without removing them. */
  pending(): PendingFaults {
    const declines = [...this.#declines().entries()]
    return {
      calls: [...(this.#calls().get('next')?.queue ?? [])],
      declines: declines.flatMap(([customer, { codes }]) =>
        codes.length > 0 ? [{ customer, codes: [...codes] }] : [],
      ),
      held: this.#held.length,
    }
  }

  /** Resolves when an API call has taken effect and its response is held back. */
  async untilHeld(): Promise<void> {
    if (this.#held.length === 0) await new Promise<void>((resolve) => this.#watchers.push(resolve))
  }

  /** Sends the responses that are held back. */
  release(): void {
    for (const send of this.#held.splice(0)) send()
  }

  /**
   * Removes all simulated failures that have not happened yet, and sends the responses that are
   * held back.
   */
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
