import type { Store } from './store.ts'

export type Provider = 'stripe' | 'braintree'

/**
 * What goes wrong with a call. `429` and `500` refuse it before anything happens. With `timeout`
 * and `half-written` the call takes effect and only the reply is lost, as on a bad network.
 */
export type CallTrouble = '429' | '500' | 'timeout' | 'half-written' | { readonly slowMs: number }

interface CallRow {
  queue: Array<{ kind: CallTrouble; provider: Provider | null }>
}
interface DeclineRow {
  codes: string[]
}

/** Trouble on demand, consulted by both providers. Kept in the store, so snapshots carry it. */
export class Trouble {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /** The next `count` calls (of one provider, or of whichever is called) go wrong. */
  failNext(count: number, kind: CallTrouble, provider: Provider | null = null): void {
    const row = this.#calls().get('next') ?? { queue: [] }
    for (let i = 0; i < count; i++) row.queue.push({ kind, provider })
    this.#calls().set('next', row)
  }

  /** What befalls this call; taken once per call by the provider's HTTP layer. */
  takeCallTrouble(provider: Provider): CallTrouble | null {
    const row = this.#calls().get('next')
    if (!row || row.queue.length === 0) return null
    const at = row.queue.findIndex((next) => next.provider === null || next.provider === provider)
    if (at < 0) return null
    const [taken] = row.queue.splice(at, 1)
    return taken?.kind ?? null
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

  takeDecline(customerId: string): string | null {
    return this.#declines().get(customerId)?.codes.shift() ?? null
  }

  /** Forgets all trouble not yet taken. */
  clear(): void {
    this.#calls().clear()
    this.#declines().clear()
  }

  #calls() {
    return this.#store.table<CallRow>('trouble.calls')
  }

  #declines() {
    return this.#store.table<DeclineRow>('trouble.declines')
  }
}
