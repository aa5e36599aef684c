import type { HttpResponse } from '@tollgate/http'
import { GateUnavailable } from '../errors.ts'
import type { Gate } from '../gate.ts'
import type { Reservation, Settlement } from '../quotas/reservations.ts'
import type { Subject } from '../subject.ts'
import type { Verdict } from '../verdict.ts'

/** Options of the check `admit()`. */
export interface AdmitOptions {
  /** Units that the request uses. @default 1 */
  readonly amount?: number
  /**
   * Reserves this many units instead, for requests whose use is known only afterwards. The handler
   * calls `admission.settle()`. Without it the reserved units count, or none if the response has a
   * status of 500 or more, or the connection ends before the response.
   */
  readonly reserve?: number
}

/** The admission of a request, for its handler. */
export interface Admission {
  /** Units that were admitted or reserved. */
  readonly amount: number
  /** Name of the caller's plan. */
  readonly plan: string
  /**
   * Counts what was used of a reservation, and returns the rest.
   * @throws InvalidUse without the option `reserve`, or if it was settled before
   */
  settle(used: number): Promise<Settlement>
}

/** The outcome of a check before the handler of a route runs. */
export interface CheckOutcome {
  /** The response to a refused request. `null` if it goes on. */
  readonly refusal: HttpResponse | null
  /** Headers to add to the response: `RateLimit` and `RateLimit-Policy`. */
  readonly headers: Readonly<Record<string, string>>
  /** `null` if nothing was counted. */
  readonly admission: Admission | null
  /** Tells the check how the request ended. `null` as `status` if the connection was lost. */
  finish(status: number | null): void
}

/** A check of the subject of a request. Without a promise if everything needed is in memory. */
export type Check = (subject: Subject) => CheckOutcome | Promise<CheckOutcome>

/** The checks of a gate, to be used in routes after the caller is known. */
export interface GateChecks<Middleware, MeterName extends string> {
  /**
   * Counts the request on a meter, and answers 402 if the plan of the caller does not allow it, or
   * 429 if the caller is too fast. Use it after the guard.
   * @example
   * app.get('/orders', auth('api'), scopes('read'), admit('calls'), listOrders)
   */
  admit(meter: MeterName, options?: AdmitOptions): Middleware
  /** Requires one of these plans. Other callers get 402. Use it after the guard. */
  subscribed(...plans: [string, ...string[]]): Middleware
  /** Requires a plan with this feature. Other callers get 402. Use it after the guard. */
  feature(name: string): Middleware
}

/** Creates the checks for a web framework. `run` turns a check into its middleware. */
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

/** A caller as the guards of `@tollgate/oauth` leave it: a user, or a client acting for itself. */
export interface GuardedCaller {
  readonly user?: { readonly id: string } | undefined
  readonly oauthClient?: { readonly clientId: string } | undefined
}

/** Options of the adapters. */
export interface GateAdapterOptions<FrameworkRequest> {
  /**
   * Returns who pays for the request, such as the team of the user.
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
