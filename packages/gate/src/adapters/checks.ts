import type { HttpResponse } from '@tollgate/http'
import { GateUnavailable } from '../errors.ts'
import type { Gate } from '../gate.ts'
import type { Reservation, Settlement } from '../quotas/reservations.ts'
import type { Subject } from '../subject.ts'
import type { Verdict } from '../verdict.ts'

/** Options of the check `admit()`. */
export interface AdmitOptions {
  /** Number of units that the request uses. @default 1 */
  readonly amount?: number
  /**
   * Number of units to reserve, for requests whose use is known only afterwards. Replaces `amount`.
   * The handler reports the use with `admission.settle()`. If the handler does not call `settle()`,
   * all reserved units count, or none if the response has status 500 or higher or the connection is
   * lost before the response.
   */
  readonly reserve?: number
}

/**
 * The units that `admit()` has counted or reserved for a request. The request's handler receives
 * this object.
 */
export interface Admission {
  /** Number of units that were counted or reserved. */
  readonly amount: number
  /** Name of the caller's plan. */
  readonly plan: string
  /**
   * Counts the units that the request used, and gives the rest of the reservation back to the
   * quota.
   * @throws InvalidUse if the reservation was settled before
   * @throws TypeError if `admit()` was called without the option `reserve`
   */
  settle(used: number): Promise<Settlement>
}

/** The decision of a check about a request, before the route's handler runs. */
export interface CheckOutcome {
  /** Response to send if the request is refused. `null` if the handler may run. */
  readonly refusal: HttpResponse | null
  /** Headers to add to the response, such as `RateLimit`. */
  readonly headers: Readonly<Record<string, string>>
  /** The units counted or reserved for the request. `null` if there are none. */
  readonly admission: Admission | null
  /**
   * Ends the check, once the request has ended: with the status of the response, or `null` if the
   * connection was lost. If the request failed, gives an unsettled reservation back to the quota.
   */
  finish(status: number | null): void
}

/**
 * Decides whether the subject of a request may continue. Returns the outcome directly instead of a
 * promise if all data is in memory.
 */
export type Check = (subject: Subject) => CheckOutcome | Promise<CheckOutcome>

/**
 * Checks of a gate for the routes of an application. Place them after the guard that identifies the
 * caller.
 */
export interface GateChecks<Middleware, MeterName extends string> {
  /**
   * Counts the request on a meter, and answers 402 if the caller's plan does not allow the request,
   * or 429 if the caller exceeds the plan's rate. Place it after the guard that identifies the
   * caller.
   * @example
   * app.get('/orders', auth('api'), scopes('read'), admit('calls'), listOrders)
   */
  admit(meter: MeterName, options?: AdmitOptions): Middleware
  /**
   * Requires that the caller has one of these plans, and otherwise answers 402. Place it after the
   * guard that identifies the caller.
   */
  subscribed(...plans: [string, ...string[]]): Middleware
  /**
   * Requires that the caller's plan has this feature, and otherwise answers 402. Place it after the
   * guard that identifies the caller.
   */
  feature(name: string): Middleware
}

/**
 * Creates the checks of a gate for a web framework. `run` turns a check into the framework's
 * middleware.
 */
export function createChecks<Middleware, MeterName extends string>(
  gate: Gate<MeterName>,
  run: (check: Check) => Middleware,
): GateChecks<Middleware, MeterName> {
  return {
    admit: (meter, options = {}) =>
      run((subject) => orUnavailable(() => admit(gate, subject, meter, options))),
    subscribed: (...plans) =>
      run((subject) =>
        orUnavailable(async () => outcomeOf(await gate.checkPlan(subject, plans), null)),
      ),
    feature: (name) =>
      run((subject) =>
        orUnavailable(async () => outcomeOf(await gate.checkFeature(subject, name), null)),
      ),
  }
}

function admit<MeterName extends string>(
  gate: Gate<MeterName>,
  subject: Subject,
  meter: MeterName,
  { amount = 1, reserve }: AdmitOptions,
): CheckOutcome | Promise<CheckOutcome> {
  if (reserve !== undefined) {
    return gate
      .reserve(subject, meter, reserve)
      .then(({ reservation, ...verdict }) => outcomeOf(verdict, meter, reservation))
  }
  const verdict = gate.admit(subject, meter, amount)
  const toOutcome = (decided: Verdict) =>
    outcomeOf(decided, meter, {
      amount,
      async settle() {
        throw new TypeError('settle() needs the option reserve of admit()')
      },
      release: async () => {},
    })
  return verdict instanceof Promise ? verdict.then(toOutcome) : toOutcome(verdict)
}

function outcomeOf(
  verdict: Verdict,
  meter: string | null,
  held: Pick<Reservation, 'amount' | 'settle' | 'release'> | null = null,
): CheckOutcome {
  if (!verdict.allowed || held === null) {
    return { refusal: verdict.response, headers: {}, admission: null, finish() {} }
  }
  let isSettled = false
  const admission: Admission = {
    amount: held.amount,
    plan: verdict.plan,
    settle(used) {
      isSettled = true
      return held.settle(used)
    },
  }
  const headers =
    verdict.remaining === null || meter === null
      ? {}
      : { ratelimit: `"${meter}";r=${verdict.remaining}` }
  return {
    refusal: null,
    headers,
    admission,
    finish(status) {
      if (isSettled) return
      isSettled = true
      // A failure to give back is logged by the gate, and leaves the units counted.
      if (status === null || status >= 500) held.release().catch(() => {})
    },
  }
}

/** Answers 503 if the database is unavailable. */
function orUnavailable(
  check: () => CheckOutcome | Promise<CheckOutcome>,
): CheckOutcome | Promise<CheckOutcome> {
  const refuse = (error: unknown): CheckOutcome => {
    if (!(error instanceof GateUnavailable)) throw error
    return { refusal: UNAVAILABLE, headers: {}, admission: null, finish() {} }
  }
  try {
    const outcome = check()
    return outcome instanceof Promise ? outcome.catch(refuse) : outcome
  } catch (error) {
    return refuse(error)
  }
}

const UNAVAILABLE: HttpResponse = {
  status: 503,
  headers: {
    'content-type': 'application/problem+json; charset=utf-8',
    'cache-control': 'no-store',
    'retry-after': '1',
  },
  body: JSON.stringify({
    type: 'urn:tollgate:gate:unavailable',
    title: 'The plan of the caller cannot be checked right now',
    status: 503,
  }),
}

/**
 * The caller of a request, as a guard of `@tollgate/oauth` stores it: a user, or a client that acts
 * for itself.
 */
export interface GuardedCaller {
  readonly user?: { readonly id: string } | undefined
  readonly oauthClient?: { readonly clientId: string } | undefined
}

/** Options of `forExpress()`, `forFastify()`, `forHono()` and `forNext()`. */
export interface GateAdapterOptions<FrameworkRequest> {
  /**
   * Returns the subject whose plan and quotas apply to a request, such as the user's team.
   * @default the user or client that the guard of `@tollgate/oauth` has authenticated
   */
  readonly subjectOf?: (request: FrameworkRequest) => Subject | Promise<Subject>
}

/** Returns the subject of a caller that a guard has authenticated. */
export function toSubject({ user, oauthClient }: GuardedCaller): Subject {
  if (user) return { type: 'user', id: user.id }
  if (oauthClient) return { type: 'client', id: oauthClient.clientId }
  throw new Error(
    "Use admit(), subscribed() and feature() after auth('api') or auth('client'), or set the option subjectOf",
  )
}
