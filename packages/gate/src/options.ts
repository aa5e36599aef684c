import type { Database } from '@tollgate/database'
import type { AlertOptions } from './alerts/alerts.ts'
import type { Clock, Logger } from './context.ts'
import type { Meter } from './plans/meter.ts'
import { type Plan, type PlanTerms, parsePlan } from './plans/plan.ts'
import type { BillingPeriod } from './plans/window.ts'
import type { GateRedisClient } from './rates/shared.ts'
import { type GateBilling, type GateCaller, type GateOAuth, toSubject } from './sources.ts'
import type { Subject } from './subject.ts'

/** The plan of a subject, as `planOf()` returns it. */
export interface AssignedPlan {
  /** Name of the plan. */
  readonly plan: string
  /** The billing period, for quotas per `period`. @default the calendar month (UTC) */
  readonly period?: BillingPeriod
  /** When to call `planOf()` again at the latest, such as the end of a trial. */
  readonly until?: Date
}

/** Options of `createGate()`, with meters and plans of any names. */
export interface AnyGateOptions {
  /** The database, from `connect()` of `@tollgate/database`. */
  readonly database: Database
  /** The meters, by name. */
  readonly meters: Readonly<Record<string, Meter>>
  /** The plans, by name. */
  readonly plans: Readonly<Record<string, Plan>>
  /** Name of the plan for subjects that have no other plan. */
  readonly otherwise: string
  /**
   * The authorization server, from `createAuthorizationServer()`. A token of the server is then
   * limited to the scopes that the plan of its user or client allows: a request that needs any
   * other scope gets 402.
   */
  readonly oauth?: GateOAuth
  /**
   * Returns the subject whose plan applies to the user or client of a token, such as the user's
   * team. Must not be asynchronous.
   * @default the user, or the client that acts for itself
   */
  readonly subjectOf?: (caller: GateCaller) => Subject
  /**
   * The subscriptions, from `createBilling()`. A subject has the plan whose `price` is in its
   * active subscription. Give `createBilling()` the option `on: refreshPlans(() => gate)`, so that
   * a change takes effect within a second; without it, after a minute.
   */
  readonly billing?: GateBilling
  /**
   * Returns the plan of a subject from your own data. If it returns `null`, the subject has the
   * plan of its subscription (see `billing`), or the plan `otherwise`. Call `gate.refresh()` when
   * the plan of a subject changes.
   */
  readonly planOf?: (
    subject: Subject,
  ) => string | AssignedPlan | null | Promise<string | AssignedPlan | null>
  /**
   * Redis or Valkey, so that all processes together obey the rates of plans: its URL, or a connected
   * client of `ioredis` or `redis`. Needs the package `rate-limiter-flexible`, and `ioredis` for a
   * URL. While Redis does not answer, each process counts by itself. Quotas never need Redis.
   * @default each process counts rates by itself
   */
  readonly redis?: string | GateRedisClient
  /**
   * Folder for the journal of an outage: use that meters with `onOutage: { allow }` admit while the
   * database cannot be reached. The use is counted once the database is back, by the next process
   * after a crash. Processes of one machine may share the folder.
   * @default in memory, where a crash loses the use
   */
  readonly journal?: string
  /** Reports when a subject has used a share of a quota. @default no reports */
  readonly alerts?: AlertOptions
  /**
   * URL of the page where people can change to another plan. Responses to refused requests contain
   * it.
   */
  readonly upgradeUrl?: string
  /**
   * Creates or migrates the tables on first use. If `false`, call `gate.migrate()` before the first
   * use.
   * @default true
   */
  readonly migrate?: boolean
  /** Source of the current time. @default the database's clock */
  readonly clock?: Clock
  /** Receives warnings and internal errors. @default console */
  readonly logger?: Logger
}

/** Options of `createGate()`. */
export interface GateOptions<
  Meters extends Readonly<Record<string, Meter>> = Readonly<Record<string, Meter>>,
  Plans extends Readonly<Record<string, Plan>> = Readonly<Record<string, Plan>>,
> extends AnyGateOptions {
  /** The meters, by name. */
  readonly meters: Meters
  /** The plans, by name. */
  readonly plans: Plans
  /** Name of the plan for subjects that have no other plan. */
  readonly otherwise: keyof Plans & string
}

/** Options of a gate, validated and with defaults applied. */
export interface ResolvedOptions {
  readonly meters: ReadonlyMap<string, Meter>
  readonly plans: ReadonlyMap<string, PlanTerms>
  readonly otherwise: string
  readonly planOf: AnyGateOptions['planOf']
  readonly billing: GateBilling | null
  readonly subjectOf: (caller: GateCaller) => Subject
  readonly upgradeUrl: string | null
  readonly clock: Clock
  readonly logger: Logger
}

const NAME = /^[a-z][\w-]{0,63}$/i

/**
 * Checks the options once, when the gate is created.
 * @throws TypeError that names the option, the value and the fix
 */
export function resolveOptions(options: AnyGateOptions): ResolvedOptions {
  for (const name of [...Object.keys(options.meters), ...Object.keys(options.plans)]) {
    if (NAME.test(name)) continue
    throw new TypeError(
      `${JSON.stringify(name)} is not the name of a meter or plan: it begins with a letter, followed by at most 63 letters, digits, - or _.`,
    )
  }
  if (!Object.hasOwn(options.plans, options.otherwise)) {
    throw new TypeError(
      `otherwise: there is no plan ${JSON.stringify(options.otherwise)}. Give one of ${Object.keys(options.plans).join(', ')}.`,
    )
  }
  const scopes = options.oauth ? new Set(Object.keys(options.oauth.scopes)) : null
  const known = { meters: options.meters, scopes }
  return {
    meters: new Map(Object.entries(options.meters)),
    plans: new Map(
      Object.entries(options.plans).map(([name, { options: terms }]) => [
        name,
        parsePlan(name, terms, known),
      ]),
    ),
    otherwise: options.otherwise,
    planOf: options.planOf,
    billing: options.billing ?? null,
    subjectOf: options.subjectOf ?? toSubject,
    upgradeUrl: options.upgradeUrl ?? null,
    clock: options.clock ?? options.database.clock,
    logger: options.logger ?? console,
  }
}
