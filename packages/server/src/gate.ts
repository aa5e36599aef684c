import type { Billing, EventListeners } from '@tollgate/billing'
import type { Database } from '@tollgate/database'
import type { Gate, GateOAuth, UsageAlert } from '@tollgate/gate'
import type { AuthorizationServer, Clock } from '@tollgate/oauth'
import type { Logger } from 'pino'
import { FREE_PLAN, hasGate, listGatePlans } from './config/gate-plans.ts'
import type { Plan } from './config/plans.ts'
import type { Settings } from './config/settings.ts'
import { asConfigurationError, ConfigurationError } from './configuration-error.ts'
import { plainLogger } from './logger.ts'
import type { User } from './users/user.ts'

export interface ServiceGateOptions {
  readonly settings: Settings
  readonly database: Database
  /**
   * The clock of quotas and subscriptions.
   * @default the clock of the database
   */
  readonly clock?: Clock
  readonly logger: Logger
  /** The authorization server whose tokens obey the plans. */
  readonly oauth?: AuthorizationServer<User>
  /** The subscriptions, which give plans. */
  readonly billing?: Pick<Billing, 'findOwner'>
  /** Public base URL of the service. */
  readonly url?: string
  /** Called once when a subject has reached a share of a quota, in a transaction. */
  readonly onAlert?: (alert: UsageAlert) => Promise<void>
}

const PROVIDERS = ['stripe', 'braintree'] as const

/**
 * Creates the gate that the settings describe. `null` if no plan limits anything: its code is not even
 * loaded then, and the database has no tables for it.
 * @throws ConfigurationError if a quota, a rate or a meter is wrong.
 */
export async function createServiceGate(options: ServiceGateOptions): Promise<Gate | null> {
  const { settings, database, clock = database.clock, logger, oauth, billing, url } = options
  const { onAlert } = options
  if (!hasGate(settings)) return null
  const { createGate, meter, plan } = await import('@tollgate/gate')
  const plans = listGatePlans(settings).map(({ id, features, scopes, quota, rate, offers }) => [
    id,
    plan({
      price: pricesOf(offers),
      features,
      ...(scopes && { scopes }),
      ...(quota && { quota }),
      ...(rate !== null && { rate }),
    }),
  ])
  // Without limits for people who have no plan, there is none that could be exceeded.
  const otherwise = settings.freePlan === null ? { [FREE_PLAN]: plan() } : {}
  try {
    return createGate({
      database,
      meters: Object.fromEntries(
        Object.entries(settings.meters).map(([id, { name: _, ...given }]) => [id, meter(given)]),
      ),
      plans: { ...otherwise, ...Object.fromEntries(plans) },
      otherwise: FREE_PLAN,
      ...(oauth && { oauth: limitPeople(oauth) }),
      ...(billing && { billing }),
      ...(url !== undefined && { upgradeUrl: `${url}/billing` }),
      ...(onAlert &&
        settings.quotaAlerts.length > 0 && {
          alerts: { at: settings.quotaAlerts, on: onAlert },
        }),
      migrate: settings.migrate,
      clock,
      logger: plainLogger(logger),
    })
  } catch (error) {
    throw asConfigurationError(error)
  }
}

/** Limits the tokens of people. Clients that act for themselves have no plan. */
function limitPeople(oauth: AuthorizationServer<User>): GateOAuth {
  return {
    scopes: oauth.scopes,
    limitScopes: (limiter) =>
      oauth.limitScopes({
        limitsOf: (caller) => (caller.userId === null ? null : limiter.limitsOf(caller)),
      }),
  }
}

/** The ids of the prices of a plan, by provider. */
function pricesOf(offers: readonly Plan[]): Record<string, string[]> {
  return Object.fromEntries(
    PROVIDERS.map((provider) => [
      provider,
      offers.map((offer) => offer[provider]).filter((id) => id !== null),
    ]),
  )
}

/**
 * Creates the tables of the gate, or checks that they are there.
 * @throws ConfigurationError if the setting `migrate` is off and a table is missing.
 */
export async function prepareGateTables(gate: Gate, { migrate }: Settings): Promise<void> {
  if (migrate) await gate.migrate()
  else if ((await gate.planMigrations()).length > 0) {
    throw new ConfigurationError(
      'The tables of the gate are not up to date, and the setting migrate is off. Run tollgate migrate, then start the service again.',
    )
  }
}

/**
 * Returns the listeners of the setting `on`, and those with which every process learns that a plan may
 * have changed. Commands need them as well, because billing records only events that it has listeners for.
 */
export async function listenersOf(
  { on, ...settings }: Settings,
  findGate: () => Pick<Gate, 'refresh'> | null,
): Promise<EventListeners> {
  if (!hasGate(settings)) return on ?? {}
  const { refreshPlans } = await import('@tollgate/gate')
  const refreshing = refreshPlans(() => ({
    refresh: async (subject) => findGate()?.refresh(subject),
  }))
  const both = Object.entries(refreshing).map(([type, refresh]) => [
    type,
    async (event: never) => {
      await refresh(event)
      await (on?.[type as keyof EventListeners] as ((event: never) => unknown) | undefined)?.(event)
    },
  ])
  return { ...on, ...Object.fromEntries(both) }
}
