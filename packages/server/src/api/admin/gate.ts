import type { Gate, Verdict } from '@tollgate/gate'
import type { Context, Hono } from 'hono'
import { z } from 'zod'
import { parseInput } from '../../admin/execute.ts'
import { GATE_SCOPE } from '../../admin/operation.ts'
import { givenInstant } from '../../admin/operations/fields.ts'
import { AdminProblem } from '../../admin/problems.ts'
import type { ServiceContext } from '../../context.ts'
import type { AppEnv } from '../../http/variables.ts'
import { TEAM } from '../../storage/found-tables.ts'
import { authenticateClient, GATE_API_PATH, readJsonObject } from './routes.ts'

const use = {
  subject: z.strictObject({
    type: z.enum(['user', TEAM, 'client']),
    id: z.string().min(1).max(255),
  }),
  meter: z.string(),
}
const amount = z.number()

/**
 * Adds the paths with which an API in another process, in any language, counts the use of people. Its
 * client authenticates with a token of its own that has the scope `gate:use`. Calls are not in the audit
 * log, because there is one for each request to the API.
 */
export function addGateApi(app: Hono<AppEnv>, context: ServiceContext): void {
  const { gate, metrics } = context
  if (!gate) return
  // An unknown meter was refused before, so it cannot become a label.
  const count = (meter: string, verdict: Verdict) => {
    metrics.countDecision(meter, verdict.reason ?? 'admitted')
    return verdictJson(verdict)
  }
  const add = <Input extends z.ZodType>(
    name: string,
    input: Input,
    run: (given: z.output<Input>) => unknown,
  ) =>
    app.post(`${GATE_API_PATH}/${name}`, async (c) => {
      await requireScope(c, context)
      const given = parseInput(input, await readJsonObject(c)) as z.output<Input>
      const result = await run(given)
      c.header('cache-control', 'no-store')
      return c.json(result as object)
    })
  add('admit', z.strictObject({ ...use, amount: amount.default(1) }), async (given) =>
    count(given.meter, await gate.admit(given.subject, given.meter, given.amount)),
  )
  add('check', z.strictObject({ ...use, amount: amount.default(1) }), async (given) =>
    verdictJson(await gate.check(given.subject, given.meter, given.amount)),
  )
  add('adjust', z.strictObject({ ...use, by: z.number() }), async (given) =>
    count(given.meter, await gate.adjust(given.subject, given.meter, given.by)),
  )
  const recorded = { ...use, amount, id: z.string(), at: givenInstant.optional() }
  add('record', z.strictObject(recorded), async ({ subject, meter, at, ...given }) => ({
    recorded: await gate.record(subject, meter, given.amount, {
      id: given.id,
      ...(at !== undefined && { at: new Date(at) }),
    }),
  }))
  add('usage', z.strictObject({ subject: use.subject }), async ({ subject }) => ({
    plan: await gate.planOf(subject),
    usage: (await gate.usage(subject)).map(usageJson),
  }))
}

async function requireScope(c: Context<AppEnv>, { oauth }: ServiceContext): Promise<void> {
  const { scopes } = await authenticateClient(c, oauth, c.req.header('authorization'))
  if (scopes.includes(GATE_SCOPE)) return
  throw new AdminProblem('forbidden', `The client needs the scope ${GATE_SCOPE}.`)
}

/** A decision as JSON. `problem` is the body of the response that the API should send. */
function verdictJson({ allowed, reason, plan, remaining, response, ...verdict }: Verdict) {
  return {
    ...{ allowed, reason, plan, remaining },
    resets_at: verdict.resetsAt?.toISOString() ?? null,
    retry_after: verdict.retryAfter === null ? null : Math.ceil(verdict.retryAfter / 1000),
    problem: response === null ? null : JSON.parse(String(response.body)),
  }
}

type MeterUsage = Awaited<ReturnType<Gate['usage']>>[number]

/** Use of a meter as JSON. */
export function usageJson({ meter, unit, used, quota, remaining, resetsAt }: MeterUsage) {
  return { meter, unit, used, quota, remaining, resets_at: resetsAt?.toISOString() ?? null }
}
