import type Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import {
  hasPendingUpdateLapsed,
  readUpdateState,
  removeUpdateState,
  writeUpdateState,
} from './held-change.ts'

const remembered = { before: {}, wanted: [], endsTrial: true, trialEnd: 7 }
const subscription = (metadata: Stripe.Metadata) =>
  ({ pending_update: null, metadata, status: 'active' }) as Stripe.Subscription

describe('the stored state of a swap that waits for payment authentication', () => {
  it('is read from the metadata as it was written', () => {
    expect(readUpdateState(writeUpdateState({}, remembered))).toEqual(remembered)
    expect(hasPendingUpdateLapsed(subscription(writeUpdateState({}, remembered)))).toBe(true)
  })

  it('is null if all its metadata values are empty', () => {
    const emptied = removeUpdateState(writeUpdateState({}, remembered))
    expect(emptied).toEqual({ tollgate_held_tax_0: '' })
    expect(hasPendingUpdateLapsed(subscription(emptied))).toBe(false)
    expect(readUpdateState(emptied)).toBeNull()
  })
})
