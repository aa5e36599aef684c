import { isBillingError } from '../core/errors/error-codes.ts'
import type { ProviderName } from '../core/values/provider-name.ts'
import type { Gateway } from './gateway.ts'

/** A completed call of a payment provider. */
export interface ProviderCall {
  /** The provider that was called. */
  readonly provider: ProviderName
  /**
   * `ok`; `refused` if the provider rejected the request, for example because a card was declined;
   * `unavailable` if it did not answer, or asked to try again later; `misconfigured` if it does not
   * accept the API key, or lacks something that billing needs; `failed` for any other error.
   */
  readonly outcome: 'ok' | 'refused' | 'unavailable' | 'misconfigured' | 'failed'
}

/** Methods that send no request, but check what the provider has sent. */
const LOCAL: readonly PropertyKey[] = ['verifyWebhook', 'answerChallenge']

/** Wraps a gateway so that `observe` is called after each of its calls that return a promise. */
export function observeCalls(gateway: Gateway, observe: (call: ProviderCall) => void): Gateway {
  const { name: provider } = gateway
  const wrapMember = (object: object, key: PropertyKey): unknown => {
    const member: unknown = Reflect.get(object, key)
    if (LOCAL.includes(key)) return member
    if (typeof member === 'object' && member !== null) return wrapObject(member)
    if (typeof member !== 'function') return member
    return (...args: unknown[]) => {
      const result: unknown = Reflect.apply(member, object, args)
      if (!(result instanceof Promise)) return result
      result.then(
        () => observe({ provider, outcome: 'ok' }),
        (error) => observe({ provider, outcome: outcomeOf(error) }),
      )
      return result
    }
  }
  // The target is empty, because a proxy of a frozen object may not return other members.
  const wrapObject = (object: object): object =>
    new Proxy(
      {},
      { get: (_, key) => wrapMember(object, key), has: (_, key) => Reflect.has(object, key) },
    )
  return wrapObject(gateway) as Gateway
}

function outcomeOf(error: unknown): ProviderCall['outcome'] {
  if (isBillingError(error, 'provider_unavailable')) return 'unavailable'
  if (isBillingError(error, 'provider_misconfigured')) return 'misconfigured'
  return isBillingError(error) ? 'refused' : 'failed'
}
