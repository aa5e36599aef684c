import { toWebResponse } from '@tollgate/http'
import type { Gate } from '../gate.ts'
import {
  type Admission,
  type CheckOutcome,
  createChecks,
  type GateAdapterOptions,
  type GateChecks,
  toSubject,
} from './checks.ts'

export type { Admission, AdmitOptions, GateAdapterOptions, GateChecks } from './checks.ts'

/** The caller in the context of a route that `auth()` of `@tollgate/oauth/next` guards. */
interface GuardedRouteContext {
  readonly user?: { readonly id?: string; readonly clientId?: string | null }
}

/** A route handler of Next's App Router that a check of a gate wraps. */
export type AdmittedHandler<Context> = (
  request: Request,
  context: Context,
) => Response | Promise<Response>

/** Wraps a route handler in a check of a gate, and adds `admission` to the handler's context. */
export type GateWrapper = <Context>(
  handler: AdmittedHandler<Context>,
) => (request: Request, context: Omit<Context, 'admission'>) => Promise<Response>

/** The part of a route handler's context that a check of a gate adds. */
export interface AdmittedContext {
  /**
   * The units that `admit()` has counted or reserved for this request. `null` inside `subscribed()`
   * and `feature()`.
   */
  readonly admission: Admission | null
}

/**
 * Creates the checks of a gate for Next's App Router. Each check wraps a route handler, and
 * `auth()` wraps the check.
 * @example
 * const { admit } = forNext(gate)
 * export const GET = auth('api', scopes('read'), admit('calls')((request, { user }) => listOrders(user.id)))
 */
export function forNext<MeterName extends string>(
  gate: Gate<MeterName>,
  { subjectOf }: GateAdapterOptions<Request> = {},
): GateChecks<GateWrapper, MeterName> {
  return createChecks<GateWrapper, MeterName>(gate, (check) => {
    return <Context>(handler: AdmittedHandler<Context>) =>
      async (request: Request, context: Omit<Context, 'admission'>) => {
        const { user } = (context ?? {}) as GuardedRouteContext
        const subject = subjectOf ? await subjectOf(request) : subjectOfCaller(user)
        const outcome: CheckOutcome = await check(subject)
        if (outcome.refusal) return toWebResponse(outcome.refusal)
        let response: Response
        try {
          const admitted = { ...context, admission: outcome.admission } as unknown as Context
          response = await handler(request, admitted)
        } catch (error) {
          outcome.finish(500)
          throw error
        }
        outcome.finish(response.status)
        return withHeaders(response, outcome.headers)
      }
  })
}

function subjectOfCaller(user: GuardedRouteContext['user']) {
  if (user?.id !== undefined) return toSubject({ user: { id: user.id } })
  return toSubject(user?.clientId ? { oauthClient: { clientId: user.clientId } } : {})
}

/** Copies the response, because the headers of redirects and fetched responses are immutable. */
function withHeaders(response: Response, added: Readonly<Record<string, string>>): Response {
  if (Object.keys(added).length === 0) return response
  const headers = new Headers(response.headers)
  for (const [name, value] of Object.entries(added)) headers.set(name, value)
  return new Response(response.body, { status: response.status, headers })
}
