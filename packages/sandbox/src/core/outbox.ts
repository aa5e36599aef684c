import type { MovableClock, ScheduledWork } from './clock/clock.ts'
import type { DueQueue } from './store/due-queue.ts'
import type { SandboxStore } from './store/store.ts'
import type { StoreTable } from './store/table.ts'

/** A webhook that a provider wants to send. */
export interface OutgoingWebhook {
  /** Provider that sends the webhook: `stripe` or `braintree`. */
  readonly provider: string
  /**
   * Id of the event: Stripe's event id (`evt_…`). Braintree's notifications have no id, so the
   * sandbox generates one.
   */
  readonly eventId: string
  /** Event type, such as `invoice.paid` or `subscription_charged_successfully`. */
  readonly eventType: string
  /** URL of the receiver. */
  readonly url: string
  /**
   * Headers of the request, without those that are computed for each attempt, such as a signature.
   */
  readonly headers: Readonly<Record<string, string>>
  /** Body of the request, exactly as it is sent. */
  readonly body: string
  /**
   * Id of the webhook endpoint that receives the webhook. Absent at Braintree, which has no
   * endpoint objects.
   */
  readonly endpointId?: string
}

/** One attempt to deliver a webhook. */
export interface DeliveryAttempt {
  /** Time of the attempt, in epoch milliseconds of the sandbox's clock. */
  readonly at: number
  /** HTTP status of the receiver's response. `null` if there was no response. */
  readonly status: number | null
  /**
   * Why there was no response, such as a refused connection or a timeout. `null` if there was a
   * response.
   */
  readonly error: string | null
  /** Headers that were computed for this attempt, such as Stripe's signature. */
  readonly headers?: Readonly<Record<string, string>>
  /** First 1,000 characters of the response body. Present only if the status was not 2xx. */
  readonly response?: string
}

/** A webhook for one URL, with the results of the attempts to deliver it. */
export interface Delivery extends OutgoingWebhook {
  /** Id of the delivery, to pass to `outbox.redeliver()`. */
  readonly id: string
  /** Time at which the webhook was queued, in epoch milliseconds of the sandbox's clock. */
  readonly createdAt: number
  /**
   * State of the delivery. It is `pending` until the receiver responds with 2xx (`delivered`) or
   * the last retry has failed (`failed`). A `dropped` webhook was never sent, because the simulated
   * fault `drop` was on.
   */
  state: 'pending' | 'delivered' | 'failed' | 'dropped'
  /**
   * When the next attempt is due, in epoch milliseconds of the sandbox's clock. `null` if there is
   * none.
   */
  dueAt: number | null
  /** Whether the first attempt sends a corrupted body, which makes its signature invalid. */
  readonly corrupt: boolean
  /**
   * Whether this delivery is the second copy of a webhook, made by the simulated fault `duplicate`.
   */
  readonly duplicate: boolean
  /** The attempts to deliver the webhook so far, oldest first. */
  attempts: DeliveryAttempt[]
}

/**
 * Simulated faults of webhook deliveries. `true` is in effect until it is set to `false`; a number
 * is in effect for that many deliveries.
 */
export interface DeliverySwitches {
  /** Whether webhooks are sent twice, or the number of webhooks to send twice. */
  readonly duplicate?: boolean | number
  /** Whether webhooks are dropped without being sent, or the number of webhooks to drop. */
  readonly drop?: boolean | number
  /**
   * Whether the first attempt of each delivery sends a corrupted body, or the number of deliveries
   * for which it does. Retries send the correct body.
   */
  readonly corrupt?: boolean | number
  /** Whether deliveries that are due at the same time are sent in reverse order. */
  readonly reorder?: boolean
  /** Delay before the first attempt of each delivery, in seconds of the sandbox's clock. */
  readonly delaySeconds?: number
}

export interface OutboxOptions {
  readonly clock: MovableClock
  readonly store: SandboxStore
  /**
   * Seconds between the delivery attempts, for each provider. Replaces the provider's own schedule.
   */
  readonly retrySchedules?: Readonly<Record<string, readonly number[] | undefined>>
  /**
   * Time to wait for a receiver's response, in milliseconds of real time.
   * @default 10_000
   */
  readonly timeoutMs?: number
  readonly fetch?: typeof fetch
  /**
   * Number of deliveries that are kept for inspection; older ones are deleted.
   * @default 20_000
   */
  readonly kept?: number
}

/** Characters kept of a non-2xx response body, enough for a message or the top of a stack trace. */
const MAX_STORED_CHARACTERS = 1000
/** Bytes read of a response body; the connection is closed if the body is longer. */
const MAX_READ_BYTES = 65_536

/**
 * A function that computes the headers of one delivery attempt, such as a signature with a
 * timestamp. `realNow` is the system time.
 */
export type SignDelivery = (delivery: Delivery, realNow: Date) => Readonly<Record<string, string>>

/** How a provider signs and retries its webhooks. */
export interface WebhookSender {
  /** Seconds between the attempts of a delivery. After the last retry the delivery has failed. */
  readonly retrySchedule: readonly number[]
  /** Computes additional headers before each attempt, such as the signature. */
  readonly sign?: SignDelivery
  /**
   * Whether a delivery is no longer wanted, for example because its endpoint was deleted. An
   * obsolete delivery fails without another attempt.
   */
  readonly isObsolete?: (delivery: Delivery) => boolean
}

/**
 * The queue of outgoing webhooks. It signs, sends and retries them, and keeps them for inspection.
 */
export class WebhookOutbox implements ScheduledWork {
  readonly #clock: MovableClock
  readonly #store: SandboxStore
  readonly #table: StoreTable<Delivery>
  readonly #due: DueQueue
  readonly #schedules: NonNullable<OutboxOptions['retrySchedules']>
  readonly #timeoutMs: number
  readonly #fetch: typeof fetch
  readonly #kept: number
  readonly #senders = new Map<string, WebhookSender>()
  /** For each URL, the last delivery in progress. */
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

  /**
   * Registers how a provider's webhooks are signed and retried. Each provider calls this when it
   * starts.
   */
  addSender(provider: string, sender: WebhookSender): void {
    this.#senders.set(provider, sender)
  }

  /**
   * Queues a webhook and starts its delivery, without waiting for the result. `flush()` and moving
   * the clock wait for it.
   */
  enqueue(webhook: OutgoingWebhook): void {
    const switches = this.#switches()
    const dropped = this.#consumeSwitch('drop')
    const corrupt = this.#consumeSwitch('corrupt')
    const now = this.#clock.nowMs()
    this.#deleteOldest()
    const copies = this.#consumeSwitch('duplicate') ? 2 : 1
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

  /** Changes the given simulated faults and keeps all others as they are. */
  set(switches: DeliverySwitches): void {
    const row = this.#store.table<DeliverySwitches>('outbox.switches')
    row.set('on', { ...row.get('on'), ...switches })
  }

  switches(): DeliverySwitches {
    return { ...this.#switches() }
  }

  /**
   * Returns the delivery with this id, or `null` if it never existed or was deleted because of the
   * limit `kept`.
   */
  find(id: string): Delivery | null {
    return this.#table.get(id) ?? null
  }

  /** Returns the kept deliveries, newest first. */
  newestFirst(): Iterable<Delivery> {
    return this.#table.newestFirst()
  }

  /**
   * Returns the kept deliveries that match the filter, oldest first. The option `kept` limits how
   * many are kept.
   */
  deliveries(filter: { provider?: string; eventId?: string } = {}): Delivery[] {
    const rows = filter.eventId
      ? this.#table.findBy('event', filter.eventId)
      : [...this.#table.values()]
    return rows.filter((row) => !filter.provider || row.provider === filter.provider)
  }

  /**
   * Sends a webhook again now, whatever the state of its delivery is.
   * @throws {RangeError} If there is no delivery with this id.
   */
  async redeliver(id: string): Promise<void> {
    const delivery = this.#table.get(id)
    if (!delivery) throw new RangeError(`There is no delivery ${id}`)
    delivery.state = 'pending'
    delivery.dueAt = this.#clock.nowMs()
    this.#table.set(id, delivery)
    await this.flush()
  }

  /** Attempts every delivery that is due now. Resolves when all of these attempts are done. */
  async flush(): Promise<void> {
    for (const delivery of this.#takeDue()) this.#attemptNext(delivery)
    if (this.#running.size === 0) return
    await Promise.all(this.#running.values())
    await this.flush()
  }

  nextDue(): number | null {
    // Nothing is sent after closing, so nothing is due: a clock that still moves must not wait for
    // it.
    if (this.#closing.signal.aborted) return null
    // A delivery in progress counts as due, so that moving the clock waits for it.
    return this.#running.size > 0 ? this.#clock.nowMs() : this.#due.nextDue()
  }

  async fireDue(): Promise<void> {
    await this.flush()
  }

  /** Aborts the deliveries in progress. Nothing is sent from then on. */
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

  /**
   * Attempts a delivery after the earlier ones to the same URL. Deliveries to different URLs do not
   * wait for each other.
   */
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
    const outcome = await this.#postAttempt(delivery)
    if (this.#closing.signal.aborted) return
    if (outcome === 'obsolete') {
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

  /**
   * Sends one attempt of a delivery. An error thrown while signing counts as a failed attempt, as
   * an unreachable receiver does.
   */
  async #postAttempt(delivery: Delivery): Promise<Omit<DeliveryAttempt, 'at'> | 'obsolete'> {
    const sender = this.#senders.get(delivery.provider)
    const damaged = delivery.corrupt && delivery.attempts.length === 0
    let kept: Pick<DeliveryAttempt, 'headers'> = {}
    try {
      if (sender?.isObsolete?.(delivery)) return 'obsolete'
      // SDKs compare a signature's timestamp with the system time. Stripe signs with it under test
      // clocks, too.
      const signed = sender?.sign?.(delivery, new Date()) ?? {}
      if (Object.keys(signed).length > 0) kept = { headers: signed }
      const response = await this.#fetch(delivery.url, {
        method: 'POST',
        headers: { ...delivery.headers, ...signed },
        body: damaged ? corruptBody(delivery.body) : delivery.body,
        redirect: 'manual',
        signal: AbortSignal.any([this.#closing.signal, AbortSignal.timeout(this.#timeoutMs)]),
      })
      const text = await readStart(response)
      const said =
        response.ok || text === '' ? {} : { response: text.slice(0, MAX_STORED_CHARACTERS) }
      return { status: response.status, error: null, ...kept, ...said }
    } catch (error) {
      return { status: null, error: describeFailure(error), ...kept }
    }
  }

  #scheduleOf(provider: string): readonly number[] {
    return this.#schedules[provider] ?? this.#senders.get(provider)?.retrySchedule ?? []
  }

  /**
   * Deletes the oldest deliveries beyond the limit `kept`, because their bodies would fill the
   * memory.
   */
  #deleteOldest(): void {
    this.#table.deleteOldest(
      (place) => this.#table.size >= this.#kept && this.#table.at(place)?.state !== 'pending',
    )
  }

  #switches(): DeliverySwitches {
    return this.#store.table<DeliverySwitches>('outbox.switches').get('on') ?? {}
  }

  #consumeSwitch(name: 'duplicate' | 'drop' | 'corrupt'): boolean {
    const value = this.#switches()[name]
    if (typeof value !== 'number') return value === true
    if (value <= 0) return false
    this.set({ [name]: value - 1 })
    return true
  }
}

/**
 * Reads the start of a response body. Reads a short body to its end, because only then is the
 * connection reused.
 */
async function readStart(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk)
    size += chunk.length
    if (size > MAX_READ_BYTES) break
  }
  return new TextDecoder().decode(Buffer.concat(chunks))
}

/**
 * Describes a failed `fetch`. The reason, such as a refused connection, is in the error's `cause`.
 */
function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  return cause instanceof Error && cause.message
    ? `${error.message}: ${cause.message}`
    : error.message
}

/** Changes one character in the middle of the body, so that its length stays correct. */
function corruptBody(body: string): string {
  const middle = Math.floor(body.length / 2)
  const other = body[middle] === 'x' ? 'y' : 'x'
  return body.slice(0, middle) + other + body.slice(middle + 1)
}
