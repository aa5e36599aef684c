import type { BillingContext } from '../../core/context.ts'
import type { QueuePageOptions } from '../../core/storage/queue-pages.ts'
import type { StoredWebhook, WebhookState } from '../../core/storage/tables.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import { createWorker } from '../../core/worker.ts'
import { createWorkerSettings } from '../../options.ts'
import type { RawWebhook } from '../../providers/webhook.ts'
import { dispatchWebhook, hasHandler } from './dispatch.ts'
import { type ReplayOptions, replayEvents } from './replay.ts'

/**
 * The queue of webhooks received from providers, including those that failed on every attempt (dead
 * letters).
 */
export interface WebhookInbox {
  /**
   * Lists dead letters (events that failed on every attempt), oldest first. `limit` defaults to
   * 100.
   * @example
   * ```ts
   * for (const { id } of await billing.webhooks.deadLetters()) await billing.webhooks.retry(id)
   * ```
   */
  deadLetters(limit?: number): Promise<StoredWebhook[]>
  /** Lists received events that still have to be handled. `limit` defaults to 100. */
  pending(limit?: number): Promise<StoredWebhook[]>
  /**
   * Lists one page of the events in a state: `pending`, `done` (handled, or without a handler) or
   * `dead`. The events with the latest due time come first.
   */
  page(state: WebhookState, options?: QueuePageOptions): Promise<StoredWebhook[]>
  /** Finds an event by our id. `null` if there is none, or if the event was purged. */
  find(id: number): Promise<StoredWebhook | null>
  /**
   * Schedules a dead letter to be handled again. Returns `false` if there is no dead letter with
   * this id.
   */
  retry(id: number): Promise<boolean>
  /**
   * Schedules events to be handled again: one by its id, or all in a period of time. They come from
   * the inbox or, with `source: 'provider'`, from the provider. Returns their number.
   * @throws {InvalidArgument} if neither `id` nor `from` is given.
   * @throws {Unsupported} with `source: 'provider'`, if the provider does not keep events
   * (Braintree).
   * @example
   * ```ts
   * await billing.webhooks.replay({ from: new Date('2026-05-01'), source: 'provider' })
   * ```
   */
  replay(options: ReplayOptions): Promise<number>
}

export interface RunningWebhookInbox extends WebhookInbox {
  /** Handles received events until none is due. */
  process(): Promise<void>
  /**
   * Verifies the signature of a webhook and stores its event. The event is handled later, after the
   * response was sent.
   */
  receive(provider: ProviderName, webhook: RawWebhook): Promise<void>
  stop(): Promise<void>
}

/**
 * Creates the inbox of received webhooks. `ready` creates the database tables, because the timer
 * may fire before billing is first used.
 */
export function createWebhookInbox(
  context: BillingContext,
  ready: () => Promise<void>,
): RunningWebhookInbox {
  const { webhooks, options } = context
  const { kick, ...worker } = createWorker(createWorkerSettings(options, ready), {
    what: 'webhook',
    queue: webhooks,
    work: (event) => dispatchWebhook(context, event),
    nameOf: ({ type, eventId }) => `${type} (${eventId})`,
  })

  return {
    async receive(provider, webhook) {
      if (await store(context, provider, webhook)) kick()
    },
    ...worker,
    deadLetters: (limit = 100) => webhooks.list('dead', limit),
    pending: (limit = 100) => webhooks.list('pending', limit),
    async page(state, options = {}) {
      await ready()
      return webhooks.page(state, options)
    },
    async find(id) {
      await ready()
      return webhooks.find(id)
    },
    async retry(id) {
      const found = await webhooks.retry(id, options.clock.now())
      kick()
      return found
    },
    async replay(options) {
      const count = await replayEvents(context, options)
      kick()
      return count
    },
  }
}

/** Verifies an event over its raw bytes, and stores it once. Returns whether it has a handler. */
async function store(
  context: BillingContext,
  provider: ProviderName,
  webhook: RawWebhook,
): Promise<boolean> {
  const { clock, database } = context.options
  const gateway = await context.gateway(provider)
  // Providers sign with the real time, which may differ from the clock of a test or demo.
  const verified = await gateway.verifyWebhook(webhook, database.clock.now())
  const { id: eventId, type, payload, foreign } = verified
  if (foreign) return false
  const isWanted = hasHandler(context, provider, type)
  const event = { provider, eventId, type, payload, hasHandler: isWanted }
  return (await context.webhooks.add(event, clock.now())) && isWanted
}
