import type { Database } from '@tollgate/database'
import { createPinnedRequest, NotFetched, type SendRequest } from '@tollgate/http/outgoing'
import type { AnyBillingEvent } from '../events/billing-event.ts'
import type { EventConsumer } from '../events/event-stream.ts'
import { createWorker, later, type Worker, type WorkerSettings } from '../events/worker.ts'
import {
  type DeliveryState,
  deliveryRepository,
  type StoredDelivery,
} from '../storage/queues/deliveries.ts'
import { purgeAll } from '../storage/queues/queue.ts'
import type { DeliverySettings, EndpointSettings } from './delivery-options.ts'
import { signDelivery } from './signature.ts'

/** Events on their way to endpoints of the application, as signed webhooks. */
export interface Deliveries {
  /** What endpoints are called, in the order of the options. */
  readonly endpoints: readonly string[]
  /** Sends what is due now. */
  process(): Promise<void>
  /** Those in this state, newest first. */
  list(state: DeliveryState, limit?: number): Promise<StoredDelivery[]>
  /** Null when there is none. */
  find(id: number): Promise<StoredDelivery | null>
  /**
   * Makes one due now, whatever became of it, with the same `webhook-id` as before. False when there is none, or its
   * endpoint is not in the options.
   */
  resend(id: number): Promise<boolean>
  /** Makes all due that were given up or held back for this endpoint, and says how many. */
  resendAll(endpoint: string): Promise<number>
  /**
   * Deletes what was over before then, or waits for an endpoint that is no longer there; says how many. The newest that is
   * held back stays: its endpoint is held back until all is sent again.
   */
  purge(before: Date): Promise<number>
}

export interface DeliverySender extends Deliveries {
  /** Writes down what is to be sent when something happened; null where nobody is sent anything. */
  readonly consumer: EventConsumer | null
  stop(): Promise<void>
}

/** Seconds after each attempt: ten more, over three days. */
const WAITS = [5, 60, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]
/** In bytes: nobody reads it. */
const LARGEST_RESPONSE = 64 * 1024
/** At whose address nobody wants events any more. */
const GONE = 410
const HELD_BACK = `It answered with ${GONE}`

/** Each endpoint has a worker of its own: one that is slow or away holds up no other. */
export function createDeliveries(
  { endpoints, outgoing }: DeliverySettings,
  database: Database,
  settings: WorkerSettings,
): DeliverySender {
  const { clock, logger, ready } = settings
  const deliveries = deliveryRepository(database)
  const send = createPinnedRequest(outgoing)
  const stopping = new AbortController()
  const { signal } = stopping

  const workerOf = (endpoint: EndpointSettings): Worker =>
    createWorker(settings, {
      what: 'delivery',
      queue: deliveries.queueFor(endpoint.name),
      nameOf: ({ eventId, type }) => `of ${type} (${eventId}) to ${endpoint.name}`,
      retryAt: (attempts, now) => (signal.aborted ? now : nextAttempt(attempts, now)),
      async work(delivery) {
        // Not the clock of billing: a test's or a demo's is moved, and the receiver compares this with the real time.
        const at = database.clock.now()
        const status = await post(send, endpoint, delivery, { at, signal })
        if (status === GONE) {
          await deliveries.holdBack(endpoint.name, HELD_BACK)
          logger.error(
            `${endpoint.name} answered with ${GONE}: nothing is sent there until its deliveries are sent again`,
          )
        } else if (status < 200 || status > 299) throw new Error(`It answered with ${status}`)
      },
    })
  const workers = new Map(endpoints.map((endpoint) => [endpoint, workerOf(endpoint)]))
  const kickAll = () => {
    for (const worker of workers.values()) worker.kick()
  }

  const consumer: EventConsumer = {
    wants: (type) => endpoints.some((endpoint) => endpoint.wants(type)),
    async take(event) {
      const payload = bodyOf(event)
      for (const [endpoint, worker] of workers) {
        if (!endpoint.wants(event.type)) continue
        const isHeld = await deliveries.isHeldBack(endpoint.name)
        const state = isHeld ? 'gone' : 'pending'
        const { id: eventId, type } = event
        const delivery = { endpoint: endpoint.name, eventId, type, payload, state } as const
        const isNew = await deliveries.add(delivery, clock.now())
        // All may have been sent again meanwhile, or somebody died at this point.
        if (isHeld || !isNew) await deliveries.confirmHold(delivery, HELD_BACK, clock.now())
        worker.kick()
      }
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
    async find(id) {
      await ready()
      return deliveries.find(id)
    },
    async resend(id) {
      await ready()
      const found = await deliveries.find(id)
      if (!endpoints.some(({ name }) => name === found?.endpoint)) return false
      const isResent = await deliveries.resend(id, clock.now())
      kickAll()
      return isResent
    },
    async resendAll(endpoint) {
      await ready()
      const count = await deliveries.resendAll(endpoint, clock.now())
      kickAll()
      return count
    },
    async purge(before) {
      await ready()
      const known = endpoints.map(({ name }) => name)
      return purgeAll((limit) => deliveries.purge(before, known, limit))
    },
    async stop() {
      stopping.abort()
      await Promise.all([...workers.values()].map((worker) => worker.stop()))
    },
  }
}

/** What a listener of the application gets, as JSON. */
function bodyOf({ id, type, createdAt, owner, provider, data }: AnyBillingEvent): string {
  return JSON.stringify({ id, type, timestamp: createdAt.toISOString(), owner, provider, data })
}

/** The status that came back. */
async function post(
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
      largest: LARGEST_RESPONSE,
      signal,
      plainWhereOpened: true,
      statusOnly: true,
    })
    return status
  } catch (error) {
    throw error instanceof NotFetched ? new Error(describe(error), { cause: error }) : error
  }
}

/** For whoever has configured the endpoint: with the system's own word, such as ECONNREFUSED or TimeoutError. */
function describe({ message, cause }: NotFetched): string {
  const inner = cause instanceof Error ? (cause.cause ?? cause) : {}
  const { code, name } = inner as { readonly code?: unknown; readonly name?: unknown }
  const why = typeof code === 'string' ? code : name
  return typeof why === 'string' ? `${message} (${why})` : message
}

function nextAttempt(attempts: number, now: Date): Date | null {
  const seconds = WAITS[attempts - 1]
  return seconds === undefined ? null : later(now, seconds)
}
