import type { StoredDelivery } from '@tollgate/billing'
import { z } from 'zod'
import { type Operation, operation, readBilling } from '../operation.ts'
import { AdminProblem, notFound } from '../problems.ts'
import { instant, nameSchema, pagedFields, pageShape, readPage } from './fields.ts'
import { showPayload } from './payload.ts'
import { type QueuePosition, toPageOption, webhookPayloadShape } from './webhooks.ts'

const STATES = ['pending', 'done', 'dead', 'gone'] as const

const deliveryShape = z.strictObject({
  id: z.number().int().describe('Id of the delivery in Tollgate'),
  endpoint: z.string().describe('Name of the endpoint'),
  event_id: z.string().describe('Sent as `webhook-id`'),
  type: z.string(),
  state: z
    .enum(STATES)
    .describe(
      '`pending`: waiting for an attempt. `done`: delivered. `dead`: every attempt failed. `gone`: on hold because the endpoint answered 410 Gone',
    ),
  attempts: z.number().int(),
  due_at: instant.describe('When the next attempt is due, or when the last one was due'),
  last_error: z.string().nullable(),
  created_at: instant,
  finished_at: instant.nullable(),
})
nameSchema('Delivery', deliveryShape)

const LONGEST_ERROR = 2000

function deliveryJson(delivery: StoredDelivery): z.output<typeof deliveryShape> {
  const { id, endpoint, eventId, type, state, attempts, lastError, finishedAt } = delivery
  return {
    id,
    endpoint,
    event_id: eventId,
    type,
    state,
    attempts,
    due_at: delivery.dueAt.toISOString(),
    last_error: lastError?.slice(0, LONGEST_ERROR) ?? null,
    created_at: delivery.createdAt.toISOString(),
    finished_at: finishedAt?.toISOString() ?? null,
  }
}

const deliveryPathFields = {
  delivery: z.coerce.number().int().positive().max(1e15).describe('Id of the delivery in Tollgate'),
}

/** Operations on the signed webhooks that the service sends to the endpoints of the application. */
export const deliveryOperations: readonly Operation[] = [
  operation({
    name: 'webhooks.listDeliveries',
    summary: 'List deliveries to your own endpoints in one state, latest `due_at` first',
    route: ['GET', '/deliveries'],
    role: 'viewer',
    effect: 'read',
    input: z.strictObject({ ...pagedFields, state: z.enum(STATES).default('dead') }),
    output: pageShape(deliveryShape),
    async run({ state, ...page }, context) {
      const { deliveries } = await readBilling(context)
      const found = await readPage(page, `deliveries ${state}`, context.cursors, {
        read: (position: QueuePosition | null, limit) =>
          deliveries.page(state, { limit, ...toPageOption(position) }),
        positionOf: ({ id, dueAt }) => ({ id, due: dueAt.getTime() }),
      })
      return { ...found, data: found.data.map(deliveryJson) }
    },
  }),
  operation({
    name: 'webhooks.listEndpoints',
    summary: 'List the endpoints that billing events and audit entries are delivered to',
    route: ['GET', '/delivery-endpoints'],
    role: 'viewer',
    effect: 'read',
    input: z.strictObject({}),
    output: z.strictObject({ data: z.array(z.strictObject({ endpoint: z.string() })) }),
    async run(_input, context) {
      const { deliveries } = await readBilling(context)
      return { data: deliveries.endpoints.map((endpoint) => ({ endpoint })) }
    },
  }),
  operation({
    name: 'webhooks.getDelivery',
    summary: 'Show a delivery with its payload',
    route: ['GET', '/deliveries/{delivery}'],
    role: 'support',
    effect: 'read',
    input: z.strictObject(deliveryPathFields),
    output: nameSchema('DeliveryDetail', deliveryShape.extend(webhookPayloadShape)),
    async run({ delivery }, context) {
      const found = await (await readBilling(context)).deliveries.find(delivery)
      if (!found) throw notFound('delivery', String(delivery))
      return { ...deliveryJson(found), ...showPayload(found.payload) }
    },
  }),
  operation({
    name: 'webhooks.resend',
    summary: 'Send a delivery again, in any state, with the same webhook-id',
    route: ['POST', '/deliveries/{delivery}/resend'],
    role: 'support',
    effect: 'change',
    commits: 'in-steps',
    input: z.strictObject(deliveryPathFields),
    output: deliveryShape,
    describe: ({ delivery }) => ({ subject: { kind: 'delivery', id: String(delivery) } }),
    async run({ delivery }, context) {
      const { deliveries } = await context.billing.provider()
      const found = await deliveries.find(delivery)
      if (!found) throw notFound('delivery', String(delivery))
      if (!(await deliveries.resend(delivery))) {
        throw new AdminProblem(
          'conflict',
          `The endpoint ${found.endpoint} is no longer configured.`,
        )
      }
      return deliveryJson((await deliveries.find(delivery)) ?? found)
    },
  }),
  operation({
    name: 'webhooks.resendAll',
    summary: 'Resend all `dead` and `gone` deliveries of an endpoint',
    route: ['POST', '/deliveries/resend'],
    role: 'support',
    effect: 'change',
    commits: 'in-steps',
    input: z.strictObject({
      endpoint: z.string().min(1).max(255).describe('Name of the endpoint'),
    }),
    output: z.strictObject({ resent: z.number().int() }),
    describe: ({ endpoint }, result) => ({
      subject: { kind: 'delivery-endpoint', id: endpoint },
      details: result === null ? {} : { resent: result.resent },
    }),
    async run({ endpoint }, context) {
      const { deliveries } = await context.billing.provider()
      if (!deliveries.endpoints.includes(endpoint)) throw notFound('endpoint', endpoint)
      return { resent: await deliveries.resendAll(endpoint) }
    },
  }),
]
