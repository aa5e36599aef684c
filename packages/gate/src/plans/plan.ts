import type { Meter } from './meter.ts'
import { parseQuota, parseRate, type Quota, type Rate } from './rule.ts'

/** Ids of the prices at which a plan is sold, by payment provider. */
export type PlanPrices = Readonly<Record<string, string | readonly string[]>>

/** Options of `plan()`: the scopes, features, quotas and rate that a plan allows. */
export interface PlanOptions<MeterName extends string = string> {
  /**
   * Ids of the prices whose subscribers have the plan, by payment provider. Keep the ids of old
   * prices, so that their subscribers keep the plan.
   */
  readonly price?: PlanPrices
  /** Scopes that callers on the plan may use. @default every scope */
  readonly scopes?: readonly string[]
  /** Names of features that the plan includes, for `feature()`. @default [] */
  readonly features?: readonly string[]
  /**
   * Quota of each meter, such as `1000/month`. The interval is `minute`, `hour`, `day`, `month`
   * (UTC) or `period` (the billing period). A gauge has a number without an interval, such as `25`.
   * `unlimited` means no limit. The plan refuses any use of a meter that is not listed.
   */
  readonly quota?: { readonly [Name in MeterName]?: string | number }
  /** Maximum rate of calls per subject and process, such as `5/second`. @default no limit */
  readonly rate?: string
}

/** A plan for the option `plans` of `createGate()`. Created by `plan()`. */
export interface Plan {
  /** The options that were passed to `plan()`. `createGate()` validates them. */
  readonly options: PlanOptions
}

/**
 * Defines a plan: what its subscribers may do, and how much of it.
 * @example
 * const plans = {
 *   free: plan({ scopes: ['read'], quota: { calls: '1000/month' }, rate: '5/second' }),
 *   pro: plan({
 *     price: { stripe: 'price_pro' },
 *     scopes: ['read', 'write'],
 *     features: ['export'],
 *     quota: { calls: '100000/period' },
 *     rate: '50/second',
 *   }),
 * }
 */
export function plan<MeterName extends string>(options: PlanOptions<MeterName> = {}): Plan {
  return { options: options as PlanOptions }
}

/** The terms of a plan, parsed and checked. */
export interface PlanTerms {
  /** Scopes that the plan allows. `null` if it allows every scope. */
  readonly scopes: ReadonlySet<string> | null
  readonly features: ReadonlySet<string>
  /** Quota by meter. `null` for a meter without a limit. */
  readonly quotas: ReadonlyMap<string, Quota | null>
  /** Maximum rate of calls. `null` for no limit. */
  readonly rate: Rate | null
  readonly prices: ReadonlyMap<string, readonly string[]>
}

/** Meters and scopes to which plans may refer. */
export interface KnownNames {
  readonly meters: Readonly<Record<string, Meter>>
  /** Scopes of the authorization server. `null` without one. */
  readonly scopes: ReadonlySet<string> | null
}

/**
 * Parses the options of a plan.
 * @throws TypeError that names the plan, the wrong value and the fix
 */
export function parsePlan(name: string, options: PlanOptions, known: KnownNames): PlanTerms {
  const what = `plans.${name}`
  for (const scope of options.scopes ?? []) {
    if (known.scopes === null || known.scopes.has(scope)) continue
    throw new TypeError(
      `${what}.scopes: the authorization server has no scope ${JSON.stringify(scope)}. Add it to its option scopes, or remove it here. It has ${[...known.scopes].join(', ') || 'none'}.`,
    )
  }
  const quotas = new Map<string, Quota | null>()
  for (const [meterName, text] of Object.entries(options.quota ?? {})) {
    const found = Object.hasOwn(known.meters, meterName) ? known.meters[meterName] : undefined
    if (!found) {
      throw new TypeError(
        `${what}.quota: there is no meter ${JSON.stringify(meterName)}. Add it to meters, or remove it here. There are ${Object.keys(known.meters).join(', ') || 'none'}.`,
      )
    }
    if (text === undefined) continue
    const isGauge = found.kind === 'gauge'
    quotas.set(
      meterName,
      text === 'unlimited' ? null : parseQuota(`${what}.quota.${meterName}`, text, isGauge),
    )
  }
  return {
    scopes: options.scopes ? new Set(options.scopes) : null,
    features: new Set(options.features ?? []),
    quotas,
    rate: options.rate === undefined ? null : parseRate(`${what}.rate`, options.rate),
    prices: new Map(
      Object.entries(options.price ?? {}).map(([provider, ids]) => [
        provider,
        typeof ids === 'string' ? [ids] : ids,
      ]),
    ),
  }
}
