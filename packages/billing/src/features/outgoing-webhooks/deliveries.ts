import type { Database } from '@tollgate/database'
import { createPinnedRequest, NotFetched, type SendRequest } from '@tollgate/http/outgoing'
import type { AnyBillingEvent } from '../../core/events/billing-event.ts'
import type { EventConsumer } from '../../core/events/event-stream.ts'
import { purgeInBatches } from '../../core/storage/queue.ts'
import type { QueuePageOptions } from '../../core/storage/queue-pages.ts'
import {
  addSecondsWithJitter,
  createWorker,
  type QueueWorker,
  type WorkerSettings,
} from '../../core/worker.ts'
import type { DeliverySettings, EndpointSettings } from './delivery-options.ts'
import {
  createDeliveryRepository,
  type DeliveryState,
  type StoredDelivery,
} from './delivery-rows.ts'
import { signDelivery } from './signature.ts'

/** An event of the application, to be sent as a signed webhook. */
export interface ApplicationEvent {
  /**
   * Identifies the event, and is sent as `webhook-id`. A later event with the same id is not sent
   * again.
   */
  readonly id: string
  /** One of the option `deliveries.applicationTypes`. */
  readonly type: string
  /** When the event happened. */
  readonly at: Date
  /** Content of the event, stored and sent as JSON. */
  readonly data: unknown
}

/** Deliveries of events as signed webhooks to endpoints of the application. */
export interface Deliveries {
  /** The names of the application's webhook endpoints, in the order of the options. */
  readonly endpoints: readonly string[]
  /** Lists the deliveries in the given state, sorted by creation, newest first. */
  list(state: DeliveryState, limit?: number): Promise<StoredDelivery[]>
  /** Lists one page of the deliveries in this state, sorted by due date, latest first. */
  page(state: DeliveryState, options?: QueuePageOptions): Promise<StoredDelivery[]>
  /** Finds a delivery. `null` if there is none. */
  find(id: number): Promise<StoredDelivery | null>
  /**
   * Sends a delivery again, whatever its state, with the same `webhook-id` as before. Returns
   * `false` if there is no such delivery, or its endpoint is no longer in the options.
   */
  resend(id: number): Promise<boolean>
  /**
   * Sends again all deliveries of an endpoint that were given up, or that were held back after the
   * endpoint responded with 410 Gone. Returns their number.
   */
  resendAll(endpoint: string): Promise<number>
  /** Whether any endpoint receives this type of event. */
  isWanted(type: string): boolean
  /**
   * Records an event of the application for the endpoints that list its type. The event is
   * delivered within `processEvery` seconds, at least once. Inside `database.unitOfWork()` the
   * event is recorded together with the other changes or not at all.
   * @throws TypeError if the type is not one of `deliveries.applicationTypes`
   */
  send(event: ApplicationEvent): Promise<void>
}

export interface DeliverySender extends Deliveries {
  /** Sends the deliveries that are due now. */
  process(): Promise<void>
  /**
   * Deletes deliveries that were finished before the given time, or whose endpoint is no longer
   * configured. Returns their number. Keeps the newest delivery that was held back after a 410
   * Gone, because it marks its endpoint as held back.
   */
  purge(before: Date): Promise<number>
  /**
   * Consumer of billing events, which queues a delivery of each event to each endpoint. `null` if
   * no endpoints are configured.
   */
  readonly consumer: EventConsumer | null
  stop(): Promise<void>
}

/** Seconds to wait after each failed attempt: ten retries over three days. */
const RETRY_DELAYS = [5, 60, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]
/** Maximum response size in bytes. The body is not used. */
const MAX_RESPONSE_BYTES = 64 * 1024
/** HTTP status of an endpoint that wants no more events. */
const GONE = 410
const HELD_BACK = `It answered with ${GONE}`

/**
 * Creates the sender of webhooks to the application. Each endpoint has its own worker, so that a
 * slow endpoint does not delay the others.
 */
export function createDeliveries(
  { endpoints, applicationTypes, outgoing }: DeliverySettings,
  database: Database,
  settings: WorkerSettings,
): DeliverySender {
  const { clock, logger, ready } = settings
  const deliveries = createDeliveryRepository(database)
  const send = createPinnedRequest(outgoing)
  const stopping = new AbortController()
  const { signal } = stopping

  const workerOf = (endpoint: EndpointSettings): QueueWorker =>
    createWorker(settings, {
      what: 'delivery',
      queue: deliveries.queueFor(endpoint.name),
      nameOf: ({ eventId, type }) => `of ${type} (${eventId}) to ${endpoint.name}`,
      retryAt: (attempts, now) => (signal.aborted ? now : nextAttempt(attempts, now)),
      async work(delivery) {
        // The real time instead of billing's clock, which tests and demos move: the receiver
        // compares it with its own clock.
        const at = database.clock.now()
        const status = await postDelivery(send, endpoint, delivery, { at, signal })
        if (status === GONE) {
          await deliveries.holdBack(endpoint.name, HELD_BACK)
          logger.error(
            `${endpoint.name} answered with ${GONE}: its deliveries are held back until they are resent`,
          )
        } else if (status < 200 || status > 299) throw new Error(`It answered with ${status}`)
      },
    })
  const workers = new Map(endpoints.map((endpoint) => [endpoint, workerOf(endpoint)]))
  const wakeAllWorkers = () => {
    for (const worker of workers.values()) worker.kick()
  }

  /**
   * Records a delivery to each endpoint that wants the event. Returns the workers of these
   * endpoints.
   */
  const record = async ({ eventId, type, payload }: Recorded): Promise<QueueWorker[]> => {
    const wanting = [...workers].filter(([endpoint]) => endpoint.wants(type))
    for (const [endpoint] of wanting) {
      const isHeld = await deliveries.isHeldBack(endpoint.name)
      const state = isHeld ? 'gone' : 'pending'
      const delivery = { endpoint: endpoint.name, eventId, type, payload, state } as const
      const isNew = await deliveries.add(delivery, clock.now())
      // All deliveries may have been sent again since, or a process crashed at this point.
      if (isHeld || !isNew) await deliveries.confirmHold(delivery, HELD_BACK, clock.now())
    }
    return wanting.map(([, worker]) => worker)
  }

  const isWanted = (type: string) => endpoints.some((endpoint) => endpoint.wants(type))
  const consumer: EventConsumer = {
    wants: isWanted,
    async handle(event) {
      const { id: eventId, type } = event
      const kicked = await record({ eventId, type, payload: serializeEvent(event) })
      for (const worker of kicked) worker.kick()
    },
  }

  return {
    consumer: endpoints.length > 0 ? consumer : null,
    endpoints: endpoints.map(({ name }) => name),
    async process() {
      await Promise.all([...workers.values()].map((worker) => worker.process()))
    },
    async list(state, limit = 100) {
      await ready()
      return deliveries.list(state, limit)
    },
    async page(state, options = {}) {
      await ready()
      return deliveries.page(state, options)
    },
    async find(id) {
      await ready()
      return deliveries.find(id)
    },
    async resend(id) {
      await ready()
      const found = await deliveries.find(id)
      if (!endpoints.some(({ name }) => name === found?.endpoint)) return false
      const isResent = await deliveries.resend(id, clock.now())
      wakeAllWorkers()
      return isResent
    },
    async resendAll(endpoint) {
      await ready()
      const count = await deliveries.resendAll(endpoint, clock.now())
      wakeAllWorkers()
      return count
    },
    isWanted,
    async send({ id: eventId, type, at, data }) {
      if (!applicationTypes.includes(type)) {
        throw new TypeError(`'${type}' is not listed in the option deliveries.applicationTypes.`)
      }
      if (!isWanted(type)) return
      await ready()
      const payload = JSON.stringify({ id: eventId, type, timestamp: at.toISOString(), data })
      // The workers find it themselves: started here, they would join the caller's transaction.
      await record({ eventId, type, payload })
    },
    async purge(before) {
      await ready()
      const known = endpoints.map(({ name }) => name)
      return purgeInBatches((limit) => deliveries.purge(before, known, limit))
    },
    async stop() {
      stopping.abort()
      await Promise.all([...workers.values()].map((worker) => worker.stop()))
    },
  }
}

type Recorded = Pick<StoredDelivery, 'eventId' | 'type' | 'payload'>

/** Returns the body: the same data that listeners get, as JSON. */
function serializeEvent({ id, type, createdAt, owner, provider, data }: AnyBillingEvent): string {
  return JSON.stringify({ id, type, timestamp: createdAt.toISOString(), owner, provider, data })
}

/** Sends a delivery. Returns the status of the response. */
async function postDelivery(
  send: SendRequest,
  { url, keys }: EndpointSettings,
  { eventId, payload }: StoredDelivery,
  { at, signal }: { readonly at: Date; readonly signal: AbortSignal },
): Promise<number> {
  const signature = signDelivery(keys, { id: eventId, body: payload }, at)
  try {
    const { status } = await send(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'Tollgate', ...signature },
      body: payload,
      maxBytes: MAX_RESPONSE_BYTES,
      signal,
      allowPlainHttp: true,
      statusOnly: true,
    })
    return status
  } catch (error) {
    throw error instanceof NotFetched ? new Error(describe(error), { cause: error }) : error
  }
}

/**
 * Describes a failed request with the system's error code, such as ECONNREFUSED or TimeoutError.
 */
function describe({ message, cause }: NotFetched): string {
  const inner = cause instanceof Error ? (cause.cause ?? cause) : {}
  const { code, name } = inner as { readonly code?: unknown; readonly name?: unknown }
  const why = typeof code === 'string' ? code : name
  return typeof why === 'string' ? `${message} (${why})` : message
}

function nextAttempt(attempts: number, now: Date): Date | null {
  const seconds = RETRY_DELAYS[attempts - 1]
  return seconds === undefined ? null : addSecondsWithJitter(now, seconds)
}
