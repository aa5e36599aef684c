import type { Plan } from './plans.ts'
import type { Settings } from './settings.ts'

/** Name of the plan of people without a subscription. */
export const FREE_PLAN = 'free'

/** The limits of a plan: scopes, quotas and a rate. */
export type GateTerms = Pick<Plan, 'scopes' | 'quota' | 'rate'>

/** The settings that the gate is made of. */
export type GateSettings = Pick<Settings, 'plans' | 'freePlan' | 'meters'>

/** Whether a plan limits what its people can do. */
export const hasLimits = ({ scopes, quota, rate }: GateTerms): boolean =>
  scopes !== null || quota !== null || rate !== null

/** Whether the settings limit what people can do. Without this, the service has no gate. */
export function hasGate({ plans, freePlan, meters }: GateSettings): boolean {
  return freePlan !== null || Object.keys(meters).length > 0 || plans.some(hasLimits)
}

/** A plan as the gate has it: with all its billing intervals. */
export interface GatePlan extends GateTerms {
  /** Id of the plan in the settings, or `free`. */
  readonly id: string
  /** Name shown on the pages. `null` if the free plan has none. */
  readonly name: string | null
  readonly features: readonly string[]
  /** The plan at each of its intervals. Empty for the free plan. */
  readonly offers: readonly Plan[]
}

/** Lists the plans of the gate, the free plan first. */
export function listGatePlans({
  plans,
  freePlan,
}: Pick<Settings, 'plans' | 'freePlan'>): GatePlan[] {
  const paid = new Map<string, GatePlan>()
  for (const each of plans) {
    const { plan: id, name, features, scopes, quota, rate } = each
    const offers = [...(paid.get(id)?.offers ?? []), each]
    paid.set(id, { id, name, features, scopes, quota, rate, offers })
  }
  if (freePlan === null) return [...paid.values()]
  const { name = null, features, scopes = null, quota = null, rate = null } = freePlan
  return [{ id: FREE_PLAN, name, features, scopes, quota, rate, offers: [] }, ...paid.values()]
}
