import type { Readable } from 'node:stream'
import { ProviderUnavailable } from '../../core/errors/errors.ts'
import type { BraintreeContext } from './client.ts'

/**
 * Reads all results of a search. Has a time limit, because the SDK's stream never ends if a page of
 * results is incomplete.
 */
export async function collectResults<T>(
  { config }: BraintreeContext['gateway'],
  /** The stream that `search()` returns, although its type says otherwise. */
  searched: unknown,
): Promise<T[]> {
  const stream = searched as Readable
  const found: T[] = []
  const timer = setTimeout(() => {
    const failure = { provider: 'braintree', providerCode: null } as const
    stream.destroy(new ProviderUnavailable('Braintree did not finish its search', failure))
  }, 2 * config.timeout)
  try {
    for await (const item of stream) found.push(item as T)
    return found
  } finally {
    clearTimeout(timer)
  }
}
