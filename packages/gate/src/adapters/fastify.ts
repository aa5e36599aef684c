import { sendFastify } from '@tollgate/http/fastify'
import type { FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import type { Gate } from '../gate.ts'
import {
  type Admission,
  createChecks,
  type GateAdapterOptions,
  type GateChecks,
  type GuardedCaller,
  toSubject,
} from './checks.ts'

export type { Admission, AdmitOptions, GateAdapterOptions, GateChecks } from './checks.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The units that `admit()` has counted or reserved for this request. */
    admission?: Admission
  }
}

/**
 * Creates the checks of a gate as hooks for Fastify 5.
 * @example
 * const { admit } = forFastify(gate)
 * app.get('/orders', { onRequest: [auth('api'), scopes('read'), admit('calls')] }, listOrders)
 */
export function forFastify<MeterName extends string>(
  gate: Gate<MeterName>,
  { subjectOf }: GateAdapterOptions<FastifyRequest> = {},
): GateChecks<onRequestAsyncHookHandler, MeterName> {
  return createChecks(gate, (check) => async (request, reply) => {
    const subject = subjectOf ? await subjectOf(request) : toSubject(request as GuardedCaller)
    const outcome = await check(subject)
    if (outcome.refusal) {
      sendFastify(outcome.refusal, reply)
      return reply
    }
    if (outcome.admission) request.admission = outcome.admission
    reply.headers(outcome.headers)
    const { raw } = reply
    raw.once('close', () => outcome.finish(raw.writableFinished ? raw.statusCode : null))
    return undefined
  })
}
