import { sendResponse } from '@tollgate/http/node'
import type { Request, RequestHandler } from 'express'
import type { Gate } from '../gate.ts'
import {
  type Admission,
  type CheckOutcome,
  createChecks,
  type GateAdapterOptions,
  type GateChecks,
  type GuardedCaller,
  toSubject,
} from './checks.ts'

export type { Admission, AdmitOptions, GateAdapterOptions, GateChecks } from './checks.ts'

declare global {
  namespace Express {
    interface Request {
      /** The units that `admit()` has counted or reserved for this request. */
      admission?: Admission
    }
  }
}

/**
 * Creates the checks of a gate as middleware for Express 5.
 * @example
 * const { admit, feature } = forExpress(gate)
 * app.get('/orders', auth('api'), scopes('read'), admit('calls'), listOrders)
 */
export function forExpress<MeterName extends string>(
  gate: Gate<MeterName>,
  { subjectOf }: GateAdapterOptions<Request> = {},
): GateChecks<RequestHandler, MeterName> {
  return createChecks(gate, (check) => async (request, response, next) => {
    let outcome: CheckOutcome
    try {
      const subject = subjectOf ? await subjectOf(request) : toSubject(request as GuardedCaller)
      outcome = await check(subject)
    } catch (error) {
      next(error)
      return
    }
    if (outcome.refusal) {
      sendResponse(outcome.refusal, response)
      return
    }
    if (outcome.admission) request.admission = outcome.admission
    response.set(outcome.headers)
    response.once('close', () =>
      outcome.finish(response.writableFinished ? response.statusCode : null),
    )
    next()
  })
}
