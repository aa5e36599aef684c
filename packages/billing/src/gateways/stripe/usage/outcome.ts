import type { UsageOutcome } from '../../contract/parts/money/usage.ts'

/** What is told of an error; no class of the SDK's, which may not be installed. */
interface Told {
  readonly type?: unknown
  readonly code?: unknown
  readonly param?: unknown
  readonly message?: unknown
}

/** By the SDK's class name: Stripe takes nothing with this key, and may the next time. */
const LATER: readonly unknown[] = ['StripeAuthenticationError', 'StripePermissionError']

/**
 * What an event came to that Stripe did not simply take. The SDK asks again by itself: where the last try met a limit
 * or no connection, the first one may have been taken.
 */
export function outcomeOf(error: unknown): UsageOutcome['state'] {
  const { type, code, param, message } = error as Told
  if (LATER.includes(type)) return 'later'
  if (type !== 'StripeInvalidRequestError') return 'unknown'
  const isDuplicate =
    code === 'duplicate_meter_event' ||
    (param === 'identifier' && /already exists/.test(String(message)))
  if (isDuplicate) return 'sent'
  // Their clock is behind ours by a moment.
  return code === 'timestamp_in_future' ? 'unknown' : 'refused'
}
