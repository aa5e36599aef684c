import { toWebResponse } from '@tollgate/http'
import type { Context, MiddlewareHandler } from 'hono'
import type { Gate } from '../gate.ts'
import {
  type Admission,
  createChecks,
  type GateAdapterOptions,
  type GateChecks,
  toSubject,
} from './checks.ts'

export type { Admission, AdmitOptions, GateAdapterOptions, GateChecks } from './checks.ts'

/** Variables that the checks set in Hono's context. */
export interface HonoGateVariables {
  /** The units that `admit()` has counted or reserved for this request. */
  admission: Admission
}

/** A check of a gate as Hono middleware. */
export type GateMiddleware = MiddlewareHandler<{ Variables: HonoGateVariables }>

/**
 * Creates the checks of a gate as middleware for Hono 4.
 * @example
 * const { admit } = forHono(gate)
 * app.get('/orders', auth('api'), scopes('read'), admit('calls'), listOrders)
 */
export function forHono<MeterName extends string>(
  gate: Gate<MeterName>,
  { subjectOf }: GateAdapterOptions<Context> = {},
): GateChecks<GateMiddleware, MeterName> {
  return createChecks(gate, (check) => async (c, next) => {
    const caller = c as unknown as Context<{ Variables: Record<string, never> }>
    const subject = subjectOf
      ? await subjectOf(c)
      : toSubject({ user: caller.get('user'), oauthClient: caller.get('oauthClient') })
    const { refusal, headers, admission, finish } = await check(subject)
    if (refusal) return toWebResponse(refusal)
    if (admission) c.set('admission', admission)
    for (const [name, value] of Object.entries(headers)) c.header(name, value)
    await next()
    // Hono turns an exception of the handler into a response before this line.
    finish(c.res.status)
    return undefined
  })
}
