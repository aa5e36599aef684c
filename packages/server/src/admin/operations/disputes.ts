import type { Dispute } from '@tollgate/billing'
import { z } from 'zod'
import { type Operation, operation, readBilling } from '../operation.ts'
import { moneyShape, providerName, toMoneyJson } from './billing-fields.ts'
import { instant, nameSchema, pagedFields, pageShape } from './fields.ts'
import { formatOwner, owner, ownerJson, ownerShape } from './owners.ts'

export const DISPUTE_STATUSES = ['inquiry', 'open', 'won', 'lost'] as const

const disputeShape = z.strictObject({
  id: z.string().describe("The provider's id of the dispute"),
  provider: z.string(),
  ...ownerShape,
  subscription: z
    .number()
    .int()
    .nullable()
    .describe('Id of the subscription in Tollgate. `null` for a single charge'),
  invoice: z
    .string()
    .nullable()
    .describe("The provider's id of the disputed invoice. `null` if there is none"),
  charge: z.string().describe("The provider's id of the charge"),
  amount: moneyShape,
  reason: z.string().nullable().describe("The provider's code for the reason"),
  status: z
    .enum(DISPUTE_STATUSES)
    .describe('`inquiry`: the bank only asks for information. `lost`: the money was returned'),
  opened_at: instant,
  closed_at: instant.nullable(),
})
nameSchema('Dispute', disputeShape)

export type DisputeJson = z.output<typeof disputeShape>

function disputeJson(dispute: Dispute): DisputeJson {
  const { id, provider, subscriptionId, invoice, charge, reason, status } = dispute
  return {
    id,
    provider,
    ...ownerJson({ type: dispute.ownerType, id: dispute.ownerId }),
    subscription: subscriptionId,
    invoice,
    charge,
    amount: toMoneyJson(dispute.amount),
    reason,
    status,
    opened_at: dispute.openedAt.toISOString(),
    closed_at: dispute.closedAt?.toISOString() ?? null,
  }
}

/** Operations on disputes (chargebacks), which are answered at the provider. */
export const disputeOperations: readonly Operation[] = [
  operation({
    name: 'billing.listDisputes',
    summary: 'List the disputes (chargebacks) of all people and teams, newest first',
    description:
      'Reads only the tables of Tollgate, not the providers. Answer a dispute at its provider.',
    route: ['GET', '/disputes'],
    role: 'viewer',
    effect: 'read',
    input: z.strictObject({
      ...pagedFields,
      status: z.enum(DISPUTE_STATUSES).optional().describe('Only those with this status'),
      provider: providerName.optional().describe('Only those at this provider'),
      owner: owner.optional().describe('Only those of this user or team, such as 42 or team:7'),
    }),
    output: pageShape(disputeShape),
    async run({ after, limit, status, provider, owner }, context) {
      const { cursors } = context
      const list = `disputes ${JSON.stringify([status, provider, owner && formatOwner(owner)])}`
      const position = after === undefined ? undefined : (cursors.decode(list, after) as string)
      const { disputes, next } = await (await readBilling(context)).disputes({
        limit,
        ...(position === undefined ? {} : { after: position }),
        ...(status === undefined ? {} : { status }),
        ...(provider === undefined ? {} : { provider }),
        ...(owner === undefined ? {} : { owner }),
      })
      return {
        data: disputes.map(disputeJson),
        next: next === null ? null : cursors.encode(list, next),
      }
    },
  }),
]
