import type { ObservedResponse, Observer } from '@tollgate/billing'
import type { ProviderCall } from '../statistics/metrics.ts'

/** Returns the observer, extended so that `count` is called after each request to a provider. */
export function countProviderCalls(
  count: (call: ProviderCall) => void,
  observe: Observer,
): Observer {
  return (work, run) => {
    if (work.kind !== 'request') return observe(work, run)
    const { provider } = work
    return observe(work, async () => {
      try {
        const response = await run()
        count({ provider, outcome: outcomeOf(response) })
        return response
      } catch (error) {
        count({ provider, outcome: outcomeOfFailure(error) })
        throw error
      }
    })
  }
}

const TOO_MANY_REQUESTS = 429
const UNAUTHORIZED: readonly number[] = [401, 403]

function outcomeOf(response: ObservedResponse | null): ProviderCall['outcome'] {
  if (response === null) return 'ok'
  const { status } = response
  if (UNAUTHORIZED.includes(status)) return 'misconfigured'
  return status >= 500 || status === TOO_MANY_REQUESTS ? 'unavailable' : 'ok'
}

/** Errors of Braintree's SDK. Stripe's client only fails if there is no response. */
const FAILURES: Readonly<Record<string, ProviderCall['outcome']>> = {
  authenticationError: 'misconfigured',
  authorizationError: 'misconfigured',
  upgradeRequired: 'misconfigured',
  notFoundError: 'ok',
}

function outcomeOfFailure(error: unknown): ProviderCall['outcome'] {
  const { type } = Object(error) as { readonly type?: unknown }
  return (typeof type === 'string' ? FAILURES[type] : undefined) ?? 'unavailable'
}
