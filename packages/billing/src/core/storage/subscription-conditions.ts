import { type AnyTables, timestamp } from '@tollgate/database'
import {
  type Expression,
  type ExpressionBuilder,
  expressionBuilder,
  type RawBuilder,
  type SqlBool,
  sql,
} from 'kysely'
import { USER_OWNER_TYPE } from '../values/owner.ts'
import {
  doesStandingGrantAccess,
  type StandingsByStatus,
  type SubscriptionStanding,
} from '../values/subscription-state.ts'

/** The states of a subscription that can be queried in the database. */
export const SUBSCRIPTION_STATUSES = [
  'active',
  'onTrial',
  'recurring',
  'cancelled',
  'onGracePeriod',
  'ended',
  'pastDue',
  'incomplete',
  'awaitsFirstPayment',
  'paused',
  'suspended',
] as const

/** A state of a subscription, named after the method of `Subscription` that checks it. */
export type SubscriptionStatus = (typeof SUBSCRIPTION_STATUSES)[number]

type Condition = Expression<SqlBool>

interface ConditionRules {
  readonly statuses: ReadonlyMap<string, StandingsByStatus>
  readonly suspendsDisputed: boolean
  readonly suspendsPaused: boolean
}

/**
 * Returns the SQL condition on `subscriptions` for a provider. The condition contains an
 * expression, so that SQLite does not use the index on the provider: it would sort all rows of the
 * provider for each page, although the primary key already has the right order.
 */
export function buildProviderCondition(provider: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`coalesce(${sql.ref('subscriptions.provider')}, '') = ${provider}`
}

/**
 * Returns the SQL condition on `subscriptions` for an owner type. The column `owner_type` is null
 * in rows of users. The condition contains an expression, so that SQLite uses the order of the
 * primary key instead of sorting all rows of the type.
 */
export function buildOwnerTypeCondition(ownerType: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`coalesce(${sql.ref('subscriptions.owner_type')}, ${USER_OWNER_TYPE}) = ${ownerType}`
}

/**
 * Returns a function that gives the SQL condition on `subscriptions` for each status. The
 * conditions equal the functions in `subscription-state.ts` that have the same names.
 */
export function createSubscriptionConditions({
  statuses,
  suspendsDisputed,
  suspendsPaused,
}: ConditionRules): (status: SubscriptionStatus, at: Date) => Condition {
  const eb: ExpressionBuilder<AnyTables, string> = expressionBuilder<AnyTables, string>()

  /** Statuses that are not listed by any provider mean `open`. */
  const standing = (is: (standing: SubscriptionStanding) => boolean): Condition => {
    const isOpen = is('open')
    const wordsOf = (meanings: StandingsByStatus) =>
      Object.keys(meanings).filter((word) => is(meanings[word] ?? 'open') !== isOpen)
    const all = [...statuses].flatMap(([, meanings]) => wordsOf(meanings))
    const others = [...statuses].flatMap(([provider, meanings]) => {
      const words = wordsOf(meanings)
      if (words.length === 0) return []
      return [eb.and([buildProviderCondition(provider), eb('provider_status', 'in', words)])]
    })
    if (isOpen) return eb.not(eb.or(others))
    // The first condition is redundant: it lets an index find the few rows with these statuses.
    return all.length === 0 ? eb.or([]) : eb.and([eb('provider_status', 'in', all), eb.or(others)])
  }

  const suspended = eb.or([
    ...(suspendsDisputed ? [eb('disputed_at', 'is not', null)] : []),
    ...(suspendsPaused ? [eb('paused_at', 'is not', null)] : []),
  ])

  return (status, at) => {
    const now = timestamp(at)
    const onGracePeriod = eb('ends_at', '>', now)
    const goesOn = eb.or([eb('ends_at', 'is', null), onGracePeriod])
    const active = () => eb.and([goesOn, standing(doesStandingGrantAccess), eb.not(suspended)])
    const running = (wanted: SubscriptionStanding) =>
      eb.and([goesOn, standing((each) => each === wanted)])
    const conditions: Readonly<Record<SubscriptionStatus, () => Condition>> = {
      active,
      onTrial: () => eb.and([active(), eb('trial_ends_at', '>', now)]),
      recurring: () =>
        eb.and([
          active(),
          eb.or([eb('trial_ends_at', 'is', null), eb('trial_ends_at', '<=', now)]),
          eb('ends_at', 'is', null),
        ]),
      cancelled: () => eb('ends_at', 'is not', null),
      onGracePeriod: () => onGracePeriod,
      ended: () => eb('ends_at', '<=', now),
      pastDue: () => running('past_due'),
      incomplete: () => standing((each) => !doesStandingGrantAccess(each)),
      awaitsFirstPayment: () => running('awaits_first_payment'),
      paused: () => eb.and([goesOn, eb('paused_at', 'is not', null)]),
      suspended: () => suspended,
    }
    return conditions[status]()
  }
}
