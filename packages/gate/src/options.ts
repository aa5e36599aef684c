import type { Database } from '@tollgate/database'
import type { AlertOptions } from './alerts/alerts.ts'
import type { Clock, Logger } from './context.ts'
import type { Meter } from './plans/meter.ts'
import { type Plan, type PlanTerms, parsePlan } from './plans/plan.ts'
import type { BillingPeriod } from './plans/window.ts'
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

/** The options of `createGate()`, whatever the names of meters and plans are. */
export interface AnyGateOptions {
  /** The database, from `connect()` of `@tollgate/database`. */
  readonly database: Database
  /** The meters, by name. */
  readonly meters: Readonly<Record<string, Meter>>
  /** The plans, by name. */
  readonly plans: Readonly<Record<string, Plan>>
  /** Name of the plan of subjects without any other. */
  readonly otherwise: string
  /**
   * The authorization server, from `createAuthorizationServer()`. Its tokens can then do only what
   * the plan of their user or client allows: scopes that the plan withholds are answered with 402.
   */
  readonly oauth?: GateOAuth
  /**
   * Returns who has the plan of a caller of `oauth`, such as the team of the user. Must answer from
   * memory.
   * @default the user, or the client that acts for itself
   */
  readonly subjectOf?: (caller: GateCaller) => Subject
  /**
   * The subscriptions, from `createBilling()`. A subject has the plan whose `price` its
   * active subscription has. Give `createBilling()` the option `on: refreshPlans(() => gate)`, so
   * that a change takes effect within a second; without it, after a minute.
   */
  readonly billing?: GateBilling
  /**
   * Returns the plan of a subject, from your own data. Asked before `billing`; `null` for the plan
   * of the subscription, or `otherwise`. Call `gate.refresh()` when it changes.
   */
  readonly planOf?: (
    subject: Subject,
  ) => string | AssignedPlan | null | Promise<string | AssignedPlan | null>
  /** Reports when a subject has used a share of a quota. @default no reports */
  readonly alerts?: AlertOptions
  /** Page where a person can change to another plan. Named in refusals. */
  readonly upgradeUrl?: string
  /**
   * Creates or migrates the tables on first use. If `false`, call `gate.migrate()` before.
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
  /** Name of the plan of subjects without any other. */
  readonly otherwise: keyof Plans & string
}

/** The options of a gate, checked. */
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
