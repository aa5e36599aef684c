import { expect } from 'vitest'
import { type FlowTest, start, sumChargedCents } from '../../../../test/support.ts'
import type { MeteredPrice } from '../../../index.ts'
import type { StartBillingOptions } from '../../../testing/index.ts'

export const TEST_CARD_NONCE = 'fake-valid-visa-nonce'

/**
 * Starts billing at Braintree with a user who has a monthly subscription of 10.00 and metered
 * calls. Queues run only when a test calls `process()`, because a timer between two moves of the
 * test clock would postpone the charge beyond the end of the test.
 */
export async function startWithChargedUsage(
  price: MeteredPrice = { unitAmount: 5 },
  options: StartBillingOptions = {},
): Promise<FlowTest> {
  const metered = { calls: price, files: { unitAmount: 100, description: 'File' } }
  const test = await start('braintree', {
    webhooks: false,
    metered,
    processEvery: false,
    ...options,
  })
  await test.user.newSubscription('main', 'monthly').create(TEST_CARD_NONCE)
  return test
}

/**
 * Advances the test clock past the next invoice, and charges the usage of the billing period that
 * has ended.
 */
export async function advanceToNextPeriod(
  { sandbox, billing }: FlowTest,
  months = 1,
): Promise<void> {
  // Reports are handled in the background: the worker must have seen them before the clock moves.
  await billing.process()
  await sandbox.clock.advance({ months })
  await sandbox.clock.advance({ hours: 2 })
  await billing.process()
}

/**
 * Makes another card the customer's default at Braintree, without billing being told, as in
 * Braintree's control panel.
 */
export async function makeOtherCardDefault({
  sandbox,
  user,
}: Pick<FlowTest, 'sandbox' | 'user'>): Promise<void> {
  const { default: braintree } = await import('braintree')
  const sdk = new braintree.BraintreeGateway(sandbox.braintree.config as never)
  const made = await sdk.paymentMethod.create({
    customerId: user.providerId ?? '',
    paymentMethodNonce: 'fake-valid-mastercard-nonce',
    options: { makeDefault: true },
  })
  expect(made.success).toBe(true)
}

/** Reports ten calls (0.50 in total), and makes Braintree decline the charge for them. */
export async function declineUsageCharge(test: FlowTest): Promise<void> {
  const { user, billing, sandbox } = test
  await user.reportUsage('calls', 10)
  await billing.process()
  await sandbox.clock.advance({ months: 1 })
  sandbox.trouble.declineNextCharge(user.providerId ?? '', '2001')
  await sandbox.clock.advance({ hours: 2 })
  await billing.process()
  expect(sumChargedCents(test, user)).toBe(2000)
}
