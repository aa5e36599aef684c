import type { BillingContext } from '../context.ts'
import type { RawWebhook } from '../gateways/contract/webhook.ts'
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

const BATCH = 100
const AT_ONCE = 8
/** A process that dies while it works on an event keeps it for so long, in milliseconds. */
const CLAIM = 10 * 60_000

/** `ready` makes the tables: the timer may ring before anybody has used billing. */
export function createInbox(context: BillingContext, ready: () => Promise<void>): Inbox {
  const { webhooks, options } = context
  let running: Promise<void> | null = null
  let again = false
  let stopped = false

  async function drain(): Promise<void> {
    await ready()
    do {
      again = false
      for (;;) {
        const due = await webhooks.listDue(options.clock.now(), BATCH)
        if (due.length === 0 || stopped) break
        for (let at = 0; at < due.length; at += AT_ONCE) {
          await Promise.all(due.slice(at, at + AT_ONCE).map((id) => work(context, id)))
        }
      }
    } while (again && !stopped)
  }

  function process(): Promise<void> {
    again = true
    running ??= drain().finally(() => {
      running = null
    })
    return running
  }

  const kick = () => {
    if (stopped) return
    process().catch((error) => options.logger.error('The webhook inbox could not be read', error))
  }
  const seconds = options.processEverySeconds
  const timer = seconds === null ? null : setInterval(kick, seconds * 1000)
  timer?.unref()

  return {
    async receive(provider, webhook) {
      if (await store(context, provider, webhook)) kick()
    },
    process,
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
    async stop() {
      stopped = true
      if (timer) clearInterval(timer)
      await running?.catch(() => undefined)
    },
  }
}

/** Verified over the raw bytes, and kept once. True when somebody wants to know of it. */
async function store(
  context: BillingContext,
  provider: ProviderName,
  webhook: RawWebhook,
): Promise<boolean> {
  const now = context.options.clock.now()
  const gateway = await context.gateway(provider)
  const { id: eventId, type, payload, foreign } = await gateway.verifyWebhook(webhook, now)
  if (foreign) return false
  const isWanted = hasHandler(context, provider, type)
  const event = { provider, eventId, type, payload, hasHandler: isWanted }
  return (await context.webhooks.add(event, now)) && isWanted
}

async function work(context: BillingContext, id: number): Promise<void> {
  const { webhooks, options } = context
  const now = options.clock.now()
  const event = await webhooks.claim(id, now, new Date(now.getTime() + CLAIM))
  if (!event) return
  try {
    await dispatch(context, event)
    await webhooks.finish(id, options.clock.now())
  } catch (error) {
    const attempts = event.attempts + 1
    const dueAt =
      attempts >= options.webhookAttempts ? null : nextAttempt(attempts, options.clock.now())
    await webhooks.fail(id, { error: describe(error), attempts, dueAt })
    options.logger.error(
      `Webhook ${event.type} (${event.eventId}) failed, attempt ${attempts}`,
      error,
    )
  }
}

/** 5 s, 20 s, 80 s … up to 6 hours, each a little later, because a crowd then spreads out. */
function nextAttempt(attempts: number, now: Date): Date {
  const seconds = Math.min(5 * 4 ** (attempts - 1), 6 * 3600)
  return new Date(now.getTime() + Math.round(seconds * 1000 * (1 + Math.random() / 10)))
}

function describe(error: unknown): string {
  return (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).slice(0, 2000)
}
