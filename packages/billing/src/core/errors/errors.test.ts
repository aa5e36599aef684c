import { describe, expect, expectTypeOf, it, vi } from 'vitest'
import type { AnyBillingError } from './error-codes.ts'
import { AlreadySubscribed, BillingError, type BillingErrorCode, NoSubscription } from './errors.ts'

describe('BillingError', () => {
  it('recognizes errors from another copy of this package with instanceof, and nothing else', async () => {
    vi.resetModules()
    const copy = await import('./errors.ts')
    const error = new copy.NoSubscription('There is none')
    expect(copy.NoSubscription).not.toBe(NoSubscription)
    expect(error instanceof BillingError).toBe(true)
    expect(error instanceof NoSubscription).toBe(false)
    for (const other of [
      new Error('Bad'),
      { code: 'no_subscription' },
      null,
      'Bad',
      BillingError.prototype,
    ]) {
      expect(other instanceof BillingError).toBe(false)
    }
  })

  it('has an error class for each error code', () => {
    expectTypeOf<AnyBillingError['code']>().toEqualTypeOf<BillingErrorCode>()
  })

  it('has subclasses that recognize only their own errors with instanceof', () => {
    const error = new NoSubscription('There is none')
    expect([error instanceof NoSubscription, error instanceof AlreadySubscribed]).toEqual([
      true,
      false,
    ])
  })
})
