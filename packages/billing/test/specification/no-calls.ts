import { expect } from 'vitest'
import type { BillingTest } from '../../src/testing/index.ts'

/**
 * Checks that `act` sends no request to either provider: the failure that is set up for the first
 * request must still be pending afterwards.
 */
export async function withoutCalls<T>({ sandbox }: BillingTest, act: () => Promise<T>): Promise<T> {
  const providers = ['stripe', 'braintree'] as const
  for (const provider of providers) sandbox.trouble.failNext(1, '500', provider)
  try {
    return await act()
  } finally {
    const left = providers.map((provider) => sandbox.trouble.takeCallTrouble(provider))
    expect(left, 'trouble that no call has met').toEqual(['500', '500'])
  }
}

/** Returns the error that `act` throws. */
export async function catchError(act: () => unknown): Promise<unknown> {
  try {
    await act()
  } catch (error) {
    return error
  }
  throw new Error('Nothing was thrown')
}
