import type { AssignedPlan } from '../options.ts'
import type { PlanTerms } from '../plans/plan.ts'
import type { GateBilling, GateSubscription } from '../sources.ts'
import type { Subject } from '../subject.ts'

/**
 * Returns the plan that a subject has through its active subscriptions. If they give several plans,
 * returns the last of these in the option `plans`. `null` if no active subscription has the price
 * of a plan.
 */
export async function findSubscribedPlan(
  billing: GateBilling,
  plans: ReadonlyMap<string, PlanTerms>,
  { type, id }: Subject,
  now: Date,
): Promise<AssignedPlan | null> {
  // A client acting for itself owns no subscriptions, unless billing has owners of the type `client`.
  const owner = await billing.findOwner(type, id).catch((error) => {
    if (isUnknownType(error)) return null
    throw error
  })
  const subscriptions = (await owner?.subscriptions()) ?? []
  const until = findNext(subscriptions, now)
  const paid = subscriptions.filter((each) => each.active())
  for (const [plan, { prices }] of [...plans].reverse()) {
    const giving = paid.find((each) =>
      prices.get(each.provider)?.some((price) => each.hasPrice(price)),
    )
    const period = giving?.currentPeriod
    if (giving) return { plan, ...(period && { period }), ...(until && { until }) }
  }
  return null
}

/** The next moment at which a subscription changes by the clock alone. */
function findNext(subscriptions: readonly GateSubscription[], now: Date): Date | null {
  const moments = subscriptions
    .flatMap(({ endsAt, trialEndsAt, plannedAt }) => [endsAt, trialEndsAt, plannedAt])
    .filter((moment) => moment !== null && moment > now)
    .map((moment) => Number(moment))
  return moments.length > 0 ? new Date(Math.min(...moments)) : null
}

const isUnknownType = (error: unknown): boolean =>
  (error as { code?: unknown } | null)?.code === 'invalid_argument'

/** Events of `@tollgate/billing` after which a subscription may give another plan. */
const EVENTS = [
  'subscription.created',
  'subscription.changed',
  'subscription.paused',
  'subscription.resumed',
  'subscription.ended',
  'invoice.paid',
  'invoice.payment_failed',
  'dispute.opened',
  'dispute.closed',
] as const

/**
 * Returns listeners for the option `on` of `createBilling()`. When a subscription changes, they
 * make every process determine its owner's plan again.
 * @example
 * const billing: Billing = createBilling({ …, on: refreshPlans(() => gate) })
 * const gate = createGate({ …, billing })
 */
export function refreshPlans(
  gate: () => {
    refresh(subject: Subject): Promise<void>
  },
): Record<(typeof EVENTS)[number], (event: { readonly owner: Subject | null }) => Promise<void>> {
  const listener = async ({ owner }: { readonly owner: Subject | null }) => {
    if (owner) await gate().refresh(owner)
  }
  return Object.fromEntries(EVENTS.map((name) => [name, listener])) as Record<
    (typeof EVENTS)[number],
    typeof listener
  >
}
