import type { HttpResponse } from '@tollgate/http'

/** Reason for which a gate refuses a request or use. */
export type RefusalReason =
  | 'scope_not_in_plan'
  | 'feature_not_in_plan'
  | 'meter_not_in_plan'
  | 'plan_required'
  | 'quota_used_up'
  | 'too_fast'

/** A gate's decision about a request or use. */
export interface Verdict {
  /** Whether the use is allowed. `admit()`, `reserve()` and `adjust()` have then counted it. */
  readonly allowed: boolean
  /** Why it was refused. `null` if it is allowed. */
  readonly reason: RefusalReason | null
  /** Name of the subject's plan. */
  readonly plan: string
  /**
   * Number of units that are certainly left after this use; there may be more: what no process had
   * leased when the counter was last read, and the unused lease of this process. `null` if unknown
   * or without a limit.
   */
  readonly remaining: number | null
  /** When the quota starts over. `null` if there is no quota or it never starts over. */
  readonly resetsAt: Date | null
  /**
   * Milliseconds to wait before the next attempt, if the caller exceeded the rate. Otherwise
   * `null`.
   */
  readonly retryAfter: number | null
  /** The response to a refused request. `null` if it is allowed. */
  readonly response: HttpResponse | null
}

/** Content of the response to a refused request. */
export interface Refusal {
  readonly reason: RefusalReason
  readonly plan: string
  /** Names of the scopes, features, meters or plans that the caller lacks. */
  readonly missing?: readonly string[]
  readonly quota?: number | null
  /** Number of units that are certainly left. */
  readonly remaining?: number | null
  readonly resetsAt?: Date | null
  readonly retryAfter?: number | null
  readonly upgradeUrl: string | null
}

const TITLES: Readonly<Record<RefusalReason, string>> = {
  scope_not_in_plan: 'The plan does not include this',
  feature_not_in_plan: 'The plan does not include this feature',
  meter_not_in_plan: 'The plan does not include this',
  plan_required: 'Another plan is needed',
  quota_used_up: 'The quota is used up',
  too_fast: 'Too many requests',
}

/**
 * Builds the response to a request that the plan does not allow: 402 with a problem document (RFC
 * 9457), or 429 if the caller was too fast. It has no Bearer challenge, because another token would
 * not help.
 */
export function buildRefusal(refusal: Refusal, now: Date): HttpResponse {
  const { reason, plan, missing = [], quota, remaining, resetsAt, retryAfter, upgradeUrl } = refusal
  const status = reason === 'too_fast' ? 429 : 402
  const seconds = Math.max(1, Math.ceil((retryAfter ?? 0) / 1000))
  const reset = resetsAt
    ? Math.max(0, Math.ceil((resetsAt.getTime() - now.getTime()) / 1000))
    : null
  const body = {
    type: `urn:tollgate:gate:${reason.replaceAll('_', '-')}`,
    title: TITLES[reason],
    status,
    reason,
    plan,
    ...(missing.length > 0 && { missing }),
    ...(quota !== undefined && quota !== null && { quota }),
    ...(resetsAt && { resets_at: resetsAt.toISOString() }),
    ...(upgradeUrl !== null && { upgrade_url: upgradeUrl }),
  }
  return {
    status,
    headers: {
      'content-type': 'application/problem+json; charset=utf-8',
      'cache-control': 'no-store',
      ...(status === 429 && { 'retry-after': String(seconds) }),
      ...(reset !== null && { ratelimit: `"${missing[0]}";r=${remaining ?? 0};t=${reset}` }),
    },
    body: JSON.stringify(body),
  }
}
