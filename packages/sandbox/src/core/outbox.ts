import type { MovableClock, Timeline } from './clock/clock.ts'
import type { DueQueue } from './store/due-queue.ts'
import type { Store } from './store/store.ts'
import type { Table } from './store/table.ts'

/** A webhook as a provider hands it over. */
export interface OutgoingWebhook {
  /** `stripe` or `braintree`. */
  readonly provider: string
  /** Stripe's `evt_…`. Braintree has none; there it only tells deliveries apart. */
  readonly eventId: string
  /** `invoice.paid`, `subscription_charged_successfully` … */
  readonly eventType: string
  /** Where it is sent. */
  readonly url: string
  /** Without a signature that depends on the moment of sending. */
  readonly headers: Readonly<Record<string, string>>
  /** Exactly what is sent. */
  readonly body: string
  /** The registration this goes to, where the provider has such a thing. */
  readonly endpointId?: string
}

/** One attempt to deliver a webhook. */
export interface DeliveryAttempt {
  /** Epoch milliseconds on the sandbox's clock. */
  readonly at: number
  /** Null when there was no HTTP response. */
  readonly status: number | null
  /** Why there was no response; null when there was one. */
  readonly error: string | null
  /** What was added at the moment of sending: Stripe's signature. */
  readonly headers?: Readonly<Record<string, string>>
  /** How a response that was no 2xx began. */
  readonly response?: string
}

/** A webhook on its way to one URL, and what became of it. */
export interface Delivery extends OutgoingWebhook {
  /** What `redeliver()` takes. */
  readonly id: string
  /** Epoch milliseconds on the sandbox's clock. */
  readonly createdAt: number
  /** `pending` until a 2xx or the last retry; `dropped` was never sent, because a switch said so. */
  state: 'pending' | 'delivered' | 'failed' | 'dropped'
  /** When the next attempt is due; null once there is none. */
  dueAt: number | null
  /** The first attempt carries a damaged body, which no signature survives. */
  readonly corrupt: boolean
  /** The second copy of a delivery that a switch doubled. */
  readonly duplicate: boolean
  /** Oldest first. */
  attempts: DeliveryAttempt[]
}

/**
 * What goes wrong with webhooks. `true` holds until it is switched off; a number is how many of the
 * next deliveries are meant.
 */
export interface DeliverySwitches {
  /** Each is sent twice. */
  readonly duplicate?: boolean | number
  /** It is never sent. */
  readonly drop?: boolean | number
  /** The first attempt carries a damaged body; the retry is whole. */
  readonly corrupt?: boolean | number
  /** Deliveries that are due together go out last first. */
  readonly reorder?: boolean
  /** Seconds to hold each delivery back, on the sandbox's clock. */
  readonly delaySeconds?: number
}

export interface OutboxOptions {
  readonly clock: MovableClock
  readonly store: Store
  /** Seconds from one attempt to the next, instead of the provider's own. */
  readonly retrySchedules?: Readonly<Record<string, readonly number[] | undefined>>
  /** Real milliseconds a receiver may take. */
  readonly timeoutMs?: number
  readonly fetch?: typeof fetch
  /** How many deliveries are kept for inspection. */
  readonly kept?: number
}

/** Of a response that was no 2xx: enough for a message or the head of a stack. */
const RESPONSE_KEPT = 1000
/** In bytes. Whoever sends more is cut off. */
const RESPONSE_READ = 65_536

/** Headers that depend on the moment of sending, such as a signature over it. `realNow` is the real time. */
export type SignDelivery = (delivery: Delivery, realNow: Date) => Readonly<Record<string, string>>

/** How a provider sends its webhooks. */
export interface Sender {
  /** Seconds from one attempt to the next; after the last the delivery has failed. */
  readonly retrySchedule: readonly number[]
  /** Called before each attempt; its headers are added to the delivery's own. */
  readonly sign?: SignDelivery
  /** Whether nobody waits for it any more: it is not attempted, now or later. */
  readonly isOver?: (delivery: Delivery) => boolean
}

/** Webhooks on their way: queued, signed at the moment of sending, retried, inspectable. */
export class Outbox implements Timeline {
  readonly #clock: MovableClock
  readonly #store: Store
  readonly #table: Table<Delivery>
  readonly #due: DueQueue
  readonly #schedules: NonNullable<OutboxOptions['retrySchedules']>
  readonly #timeoutMs: number
  readonly #fetch: typeof fetch
  readonly #kept: number
  readonly #senders = new Map<string, Sender>()
  /** The last of what is on its way to each URL. */
  readonly #running = new Map<string, Promise<void>>()
  #closing = new AbortController()

  constructor(options: OutboxOptions) {
    this.#clock = options.clock
    this.#store = options.store
    this.#table = options.store.table<Delivery>('outbox')
    this.#table.indexBy('event', (delivery) => delivery.eventId)
    this.#due = this.#table.dueBy('attempt', (delivery) => delivery.dueAt)
    this.#schedules = options.retrySchedules ?? {}
    this.#timeoutMs = options.timeoutMs ?? 10_000
    this.#fetch = options.fetch ?? fetch
    this.#kept = options.kept ?? 20_000
    options.clock.join(this)
  }

  /** Says how a provider's deliveries are signed and retried. Each provider does so when it starts. */
  addSender(provider: string, sender: Sender): void {
    this.#senders.set(provider, sender)
  }

  /** Sends soon, without waiting; `flush()` or moving the clock waits for it. */
  enqueue(webhook: OutgoingWebhook): void {
    const switches = this.#switches()
    const dropped = this.#use('drop')
    const corrupt = this.#use('corrupt')
    const now = this.#clock.nowMs()
    this.#forgetOldest()
    const copies = this.#use('duplicate') ? 2 : 1
    for (let copy = 0; copy < copies; copy++) {
      const id = `dlv_${this.#store.nextNumber('outbox')}`
      this.#table.set(id, {
        ...webhook,
        id,
        createdAt: now,
        state: dropped ? 'dropped' : 'pending',
        dueAt: dropped ? null : now + (switches.delaySeconds ?? 0) * 1000,
        corrupt,
        duplicate: copy > 0,
        attempts: [],
      })
    }
    setImmediate(() => void this.flush())
  }

  /** Turns switches on or off; those not named stay as they are. */
  set(switches: DeliverySwitches): void {
    const row = this.#store.table<DeliverySwitches>('outbox.switches')
    row.set('on', { ...row.get('on'), ...switches })
  }

  switches(): DeliverySwitches {
    return { ...this.#switches() }
  }

  /** The delivery of this id; null when it was forgotten. */
  find(id: string): Delivery | null {
    return this.#table.get(id) ?? null
  }

  /** The last deliveries, newest first. */
  newestFirst(): Iterable<Delivery> {
    return this.#table.newestFirst()
  }

  /** The last deliveries, oldest first; `kept` says how many. */
  deliveries(filter: { provider?: string; eventId?: string } = {}): Delivery[] {
    const rows = filter.eventId
      ? this.#table.findBy('event', filter.eventId)
      : [...this.#table.values()]
    return rows.filter((row) => !filter.provider || row.provider === filter.provider)
  }

  /** Sends a delivery again, now, whatever became of it. */
  async redeliver(id: string): Promise<void> {
    const delivery = this.#table.get(id)
    if (!delivery) throw new RangeError(`There is no delivery ${id}`)
    delivery.state = 'pending'
    delivery.dueAt = this.#clock.nowMs()
    this.#table.set(id, delivery)
    await this.flush()
  }

  /** Resolves when everything due by now has been attempted. */
  async flush(): Promise<void> {
    for (const delivery of this.#takeDue()) this.#attemptNext(delivery)
    if (this.#running.size === 0) return
    await Promise.all(this.#running.values())
    await this.flush()
  }

  nextDue(): number | null {
    // Nothing is sent after closing, so nothing is due: a clock that still moves must not wait for it.
    if (this.#closing.signal.aborted) return null
    // What is being sent is still due: moving the clock waits for it.
    return this.#running.size > 0 ? this.#clock.nowMs() : this.#due.nextDue()
  }

  async fireDue(): Promise<void> {
    await this.flush()
  }

  /** Gives up on what is being sent. */
  close(): void {
    this.#closing.abort()
  }

  #takeDue(): Delivery[] {
    if (this.#closing.signal.aborted) return []
    const now = this.#clock.nowMs()
    const due: Delivery[] = []
    for (let key = this.#due.nextKey(now); key; key = this.#due.nextKey(now)) {
      const delivery = this.#table.get(key)
      if (delivery) due.push(delivery)
      this.#due.set(key, null)
    }
    return this.#switches().reorder ? due.reverse() : due
  }

  /** In order for each URL; URLs do not wait for each other. */
  #attemptNext(delivery: Delivery): void {
    const { url } = delivery
    const before = this.#running.get(url) ?? Promise.resolve()
    const attempt = before
      .catch(() => undefined)
      .then(() => this.#attempt(delivery))
      .finally(() => {
        if (this.#running.get(url) === attempt) this.#running.delete(url)
      })
    this.#running.set(url, attempt)
  }

  async #attempt(delivery: Delivery): Promise<void> {
    const at = this.#clock.now()
    const outcome = await this.#post(delivery)
    if (this.#closing.signal.aborted) return
    if (outcome === 'over') {
      delivery.state = 'failed'
      delivery.dueAt = null
      this.#table.set(delivery.id, delivery)
      return
    }
    delivery.attempts.push({ at: at.getTime(), ...outcome })
    const ok = outcome.status !== null && outcome.status >= 200 && outcome.status < 300
    const wait = this.#scheduleOf(delivery.provider)[delivery.attempts.length - 1]
    delivery.state = ok ? 'delivered' : wait === undefined ? 'failed' : 'pending'
    delivery.dueAt = ok || wait === undefined ? null : at.getTime() + wait * 1000
    this.#table.set(delivery.id, delivery)
  }

  /** A sender that throws is an attempt that failed, as a receiver that cannot be reached is. */
  async #post(delivery: Delivery): Promise<Omit<DeliveryAttempt, 'at'> | 'over'> {
    const sender = this.#senders.get(delivery.provider)
    const damaged = delivery.corrupt && delivery.attempts.length === 0
    let kept: Pick<DeliveryAttempt, 'headers'> = {}
    try {
      if (sender?.isOver?.(delivery)) return 'over'
      // SDKs compare a signature with the real time, as Stripe signs under test clocks, too.
      const signed = sender?.sign?.(delivery, new Date()) ?? {}
      if (Object.keys(signed).length > 0) kept = { headers: signed }
      const response = await this.#fetch(delivery.url, {
        method: 'POST',
        headers: { ...delivery.headers, ...signed },
        body: damaged ? damage(delivery.body) : delivery.body,
        redirect: 'manual',
        signal: AbortSignal.any([this.#closing.signal, AbortSignal.timeout(this.#timeoutMs)]),
      })
      const text = await readStart(response)
      const said = response.ok || text === '' ? {} : { response: text.slice(0, RESPONSE_KEPT) }
      return { status: response.status, error: null, ...kept, ...said }
    } catch (error) {
      return { status: null, error: describeFailure(error), ...kept }
    }
  }

  #scheduleOf(provider: string): readonly number[] {
    return this.#schedules[provider] ?? this.#senders.get(provider)?.retrySchedule ?? []
  }

  /** Bodies would otherwise fill the memory. */
  #forgetOldest(): void {
    this.#table.deleteOldest(
      (kept) => this.#table.size >= this.#kept && (kept as Delivery).state !== 'pending',
    )
  }

  #switches(): DeliverySwitches {
    return this.#store.table<DeliverySwitches>('outbox.switches').get('on') ?? {}
  }

  #use(name: 'duplicate' | 'drop' | 'corrupt'): boolean {
    const value = this.#switches()[name]
    if (typeof value !== 'number') return value === true
    if (value <= 0) return false
    this.set({ [name]: value - 1 })
    return true
  }
}

/** The beginning of a response, and its end if that is near: a connection is used again only when nothing is left to read. */
async function readStart(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk)
    size += chunk.length
    if (size > RESPONSE_READ) break
  }
  return new TextDecoder().decode(Buffer.concat(chunks))
}

/** `fetch` hides the reason, such as a refused connection, in the cause. */
function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  return cause instanceof Error && cause.message
    ? `${error.message}: ${cause.message}`
    : error.message
}

/** One character changed in the middle, still the same length. */
function damage(body: string): string {
  const middle = Math.floor(body.length / 2)
  const other = body[middle] === 'x' ? 'y' : 'x'
  return body.slice(0, middle) + other + body.slice(middle + 1)
}
