import type { BillingContext } from '../context.ts'
import { createWorker } from '../events/worker.ts'
import type { RawWebhook } from '../gateways/contract/webhook.ts'
import { workerSettings } from '../options.ts'
import type { ProviderName } from '../provider-name.ts'
import type { StoredWebhook } from '../storage/tables.ts'
import { dispatch, hasHandler } from './dispatch.ts'
import { type ReplayOptions, replay } from './replay.ts'

/** Events on their way in, and those given up on. */
export interface WebhookInbox {
  /** Works until nothing is due. */
  process(): Promise<void>
  /** Events given up on after all attempts, oldest first. */
  deadLetters(limit?: number): Promise<StoredWebhook[]>
  /** Events not done yet. */
  pending(limit?: number): Promise<StoredWebhook[]>
  /** Makes a dead letter due again. */
  retry(id: number): Promise<boolean>
  /**
   * Has events handled again, from the inbox or from the provider: one by its id, or those of a time. Says how many.
   * @example
   * await billing.webhooks.replay({ from: new Date('2026-05-01'), source: 'provider' })
   */
  replay(options: ReplayOptions): Promise<number>
}

export interface Inbox extends WebhookInbox {
  /** Proves an event and stores it. What it means is worked out after the response. */
  receive(provider: ProviderName, webhook: RawWebhook): Promise<void>
  stop(): Promise<void>
}

/** `ready` makes the tables: the timer may ring before anybody has used billing. */
export function createInbox(context: BillingContext, ready: () => Promise<void>): Inbox {
  const { webhooks, options } = context
  const { kick, ...worker } = createWorker(workerSettings(options, ready), {
    what: 'webhook',
    queue: { ...webhooks, finish: (id, _state, at) => webhooks.finish(id, at) },
    work: (event) => dispatch(context, event),
    nameOf: ({ type, eventId }) => `${type} (${eventId})`,
  })

  return {
    async receive(provider, webhook) {
      if (await store(context, provider, webhook)) kick()
    },
    ...worker,
    deadLetters: (limit = 100) => webhooks.list('dead', limit),
    pending: (limit = 100) => webhooks.list('pending', limit),
    async retry(id) {
      const found = await webhooks.retry(id, options.clock.now())
      kick()
      return found
    },
    async replay(options) {
      const count = await replay(context, options)
      kick()
      return count
    },
  }
}

/** Verified over the raw bytes, and kept once. True when somebody wants to know of it. */
async function store(
  context: BillingContext,
  provider: ProviderName,
  webhook: RawWebhook,
): Promise<boolean> {
  const { clock, database } = context.options
  const gateway = await context.gateway(provider)
  // Providers sign with the real time, which the clock of a test or a demo may be far from.
  const verified = await gateway.verifyWebhook(webhook, database.clock.now())
  const { id: eventId, type, payload, foreign } = verified
  if (foreign) return false
  const isWanted = hasHandler(context, provider, type)
  const event = { provider, eventId, type, payload, hasHandler: isWanted }
  return (await context.webhooks.add(event, clock.now())) && isWanted
}
