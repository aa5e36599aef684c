import type { Owner } from '@tollgate/billing'
import { z } from 'zod'
import { listCurrentUse } from '../../storage/gate-data.ts'
import { type Operation, type OperationContext, operation } from '../operation.ts'
import { instant, nameSchema } from './fields.ts'
import { owner, ownerJson, ownerShape, parseOwner, requireStoredOwner } from './owners.ts'

const quotaShape = z.strictObject({
  meter: z.string(),
  name: z.string().describe('Name of the meter on the pages'),
  unit: z.string().nullable(),
  used: z.number().int(),
  quota: z.number().int().nullable().describe('`null` without a limit'),
  remaining: z.number().int().nullable().describe('`null` without a limit'),
  resets_at: instant.nullable().describe('When the quota starts over. `null` if it never does'),
})
nameSchema('QuotaUse', quotaShape)

const topShape = z.strictObject({
  ...ownerShape,
  email: z.string().nullable().describe('`null` for a team, and if the account is gone'),
  plan: z.string(),
  ...quotaShape.shape,
})
nameSchema('TopQuotaUse', topShape)

/** Use of a quota, as the operations return it. */
export type QuotaJson = z.output<typeof quotaShape>
/** Use of a quota with its owner, as the operations return it. */
export type TopQuotaJson = z.output<typeof topShape>

/** Number of subjects whose use is compared. */
const COMPARED = 50

/** Reads what a person or team has used of each quota. */
export async function readQuotas(
  { type, id }: Owner,
  { gate, config }: Pick<OperationContext, 'gate' | 'config'>,
): Promise<{ plan: string | null; data: QuotaJson[] }> {
  if (!gate) return { plan: null, data: [] }
  const subject = { type, id }
  const [plan, uses] = [await gate.planOf(subject), await gate.usage(subject)]
  const { meters } = config.settings
  return {
    plan,
    data: uses.map(({ meter, unit, used, quota, remaining, resetsAt }) => ({
      ...{ meter, name: meters[meter]?.name ?? meter, unit, used, quota, remaining },
      resets_at: resetsAt?.toISOString() ?? null,
    })),
  }
}

/** Operations on what people have used of the quotas of their plans. */
export const quotaOperations: readonly Operation[] = [
  operation({
    name: 'billing.listQuotas',
    summary: 'List what a person or team has used of the quotas of the plan',
    description:
      'Includes units that processes have reserved for the next requests, so the numbers may be a little high. The list is empty if the plan has no quotas.',
    route: ['GET', '/users/{owner}/quotas'],
    role: 'viewer',
    effect: 'read',
    input: z.strictObject({ owner }),
    output: z.strictObject({
      plan: z.string().nullable().describe('Id of the plan. `null` if no plan has limits'),
      data: z.array(quotaShape),
    }),
    async run({ owner: given }, context) {
      await requireStoredOwner(given, context)
      return readQuotas(given, context)
    },
  }),
  operation({
    name: 'billing.listTopUse',
    summary: 'List who has used most of a quota, those who are closest to its end first',
    description: `Compares the ${COMPARED} largest amounts of the present periods.`,
    route: ['GET', '/quotas/top'],
    role: 'viewer',
    effect: 'read',
    input: z.strictObject({ limit: z.coerce.number().int().min(1).max(COMPARED).default(10) }),
    output: z.strictObject({ data: z.array(topShape) }),
    async run({ limit }, context) {
      const { gate, database, clock, users } = context
      if (!gate) return { data: [] }
      const subjects = await listCurrentUse(database, clock.now(), COMPARED)
      const owners = subjects.map(parseOwner).filter(({ type }) => type !== 'client')
      const found = await Promise.all(
        owners.map(async (each) => {
          const { plan, data } = await readQuotas(each, context)
          return data.map((use) => ({ ...ownerJson(each), plan: plan ?? '', ...use }))
        }),
      )
      const share = ({ used, quota }: QuotaJson) => (quota === null ? 0 : used / Math.max(1, quota))
      const top = found
        .flat()
        .filter(({ used }) => used > 0)
        .sort((a, b) => share(b) - share(a) || b.used - a.used)
        .slice(0, limit)
      const ids = top.flatMap(({ user_id: id }) => id ?? [])
      const emails = new Map((await users.findByIds(ids)).map(({ id, email }) => [id, email]))
      return {
        data: top.map((each) => ({ ...each, email: emails.get(each.user_id ?? '') ?? null })),
      }
    },
  }),
]
