import type Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import { forget, hasLapsed, read, write } from './held-change.ts'

const remembered = { before: {}, wanted: [], endsTrial: true, trialEnd: 7 }
const subscription = (metadata: Stripe.Metadata) =>
  ({ pending_update: null, metadata, status: 'active' }) as Stripe.Subscription

describe('the stored state of a swap that waits for payment authentication', () => {
  it('is read back as it was written', () => {
    expect(read(write({}, remembered))).toEqual(remembered)
    expect(hasLapsed(subscription(write({}, remembered)))).toBe(true)
  })

  it('is null if all its values are empty', () => {
    const emptied = forget(write({}, remembered))
    expect(emptied).toEqual({ tollgate_held_tax_0: '' })
    expect(hasLapsed(subscription(emptied))).toBe(false)
    expect(read(emptied)).toBeNull()
  })

  it('has no trial end if an earlier version wrote it', () => {
    const { trialEnd: _new, ...before } = remembered
    const metadata = { tollgate_held_tax_0: JSON.stringify(before) }
    expect(read(metadata)).toEqual({ ...before, trialEnd: null })
  })
})
