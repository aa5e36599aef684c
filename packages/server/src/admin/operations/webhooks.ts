import type { StoredWebhook } from '@tollgate/billing'
import { z } from 'zod'
import { type Operation, operation, readBilling } from '../operation.ts'
import { AdminProblem, notFound } from '../problems.ts'
import { instant, nameSchema, pagedFields, pageShape, readPage } from './fields.ts'
import { showPayload } from './payload.ts'

const STATES = ['pending', 'done', 'dead'] as const

const webhookShape = z.strictObject({
  id: z.number().int().describe('Id of the webhook in Tollgate'),
  provider: z.string(),
  event_id: z.string().describe("The provider's id of the event"),
  type: z.string(),
  state: z
    .enum(STATES)
    .describe('`pending`: waiting for an attempt. `done`: handled. `dead`: every attempt failed'),
  attempts: z.number().int(),
  due_at: instant.describe('When the next attempt is due, or when the last one was due'),
  last_error: z.string().nullable(),
  received_at: instant,
  finished_at: instant.nullable(),
})
nameSchema('Webhook', webhookShape)

export const webhookPayloadShape = {
  payload: z
    .unknown()
    .describe(
      'The content, with secrets and card numbers removed. A string if it is not JSON, or is truncated',
    ),
  payload_truncated: z.boolean().describe('Whether only the first 65,536 characters are shown'),
}

const LONGEST_ERROR = 2000

function webhookJson(webhook: StoredWebhook): z.output<typeof webhookShape> {
  const { id, provider, eventId, type, state, attempts, lastError, finishedAt } = webhook
  return {
    id,
    provider,
    event_id: eventId,
    type,
    state,
    attempts,
    due_at: webhook.dueAt.toISOString(),
    last_error: lastError?.slice(0, LONGEST_ERROR) ?? null,
    received_at: webhook.receivedAt.toISOString(),
    finished_at: finishedAt?.toISOString() ?? null,
  }
}

/** The place of an entry in its queue, as a cursor holds it. */
export interface QueuePosition {
  readonly id: number
  readonly due: number
}

/** Converts the position in a cursor to the paging option of the billing library. */
export function toPageOption(position: QueuePosition | null) {
  return position === null ? {} : { after: { id: position.id, dueAt: new Date(position.due) } }
}

const webhookPathFields = {
  webhook: z.coerce.number().int().positive().max(1e15).describe('Id of the webhook in Tollgate'),
}

/** Operations on events from the payment providers. */
export const webhookOperations: readonly Operation[] = [
  operation({
    name: 'webhooks.list',
    summary: 'List events received from the providers in one state, latest `due_at` first',
    description: 'Handled events are kept for some weeks.',
    route: ['GET', '/webhooks'],
    role: 'viewer',
    effect: 'read',
    input: z.strictObject({ ...pagedFields, state: z.enum(STATES).default('dead') }),
    output: pageShape(webhookShape),
    async run({ state, ...page }, context) {
      const { webhooks } = await readBilling(context)
      const found = await readPage(page, `webhooks ${state}`, context.cursors, {
        read: (position: QueuePosition | null, limit) =>
          webhooks.page(state, { limit, ...toPageOption(position) }),
        positionOf: ({ id, dueAt }) => ({ id, due: dueAt.getTime() }),
      })
      return { ...found, data: found.data.map(webhookJson) }
    },
  }),
  operation({
    name: 'webhooks.get',
    summary: 'Show an event received from a provider, with its payload',
    route: ['GET', '/webhooks/{webhook}'],
    role: 'support',
    effect: 'read',
    input: z.strictObject(webhookPathFields),
    output: nameSchema('WebhookDetail', webhookShape.extend(webhookPayloadShape)),
    async run({ webhook }, context) {
      const found = await (await readBilling(context)).webhooks.find(webhook)
      if (!found) throw notFound('webhook', String(webhook))
      return { ...webhookJson(found), ...showPayload(found.payload) }
    },
  }),
  operation({
    name: 'webhooks.retry',
    summary: 'Handle an event from a provider again',
    description:
      'Works for failed and for handled events. Handling an event twice has no further effect, because the current state is read.',
    route: ['POST', '/webhooks/{webhook}/retry'],
    role: 'support',
    effect: 'change',
    commits: 'in-steps',
    input: z.strictObject(webhookPathFields),
    output: webhookShape,
    describe: ({ webhook }) => ({ subject: { kind: 'webhook', id: String(webhook) } }),
    async run({ webhook }, context) {
      const { webhooks } = await context.billing.provider()
      const found = await webhooks.find(webhook)
      if (!found) throw notFound('webhook', String(webhook))
      if (found.state === 'pending') {
        throw new AdminProblem('conflict', 'The event is already waiting for its next attempt.')
      }
      const { eventId: id, provider } = found
      if (found.state === 'dead') await webhooks.retry(webhook)
      else await webhooks.replay({ id, provider })
      return webhookJson((await webhooks.find(webhook)) ?? found)
    },
  }),
]
