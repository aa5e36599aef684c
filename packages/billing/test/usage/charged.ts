import { expect } from 'vitest'
import type { MeteredPrice } from '../../src/index.ts'
import type { StartBillingOptions } from '../../src/testing/index.ts'
import { type FlowTest, start, takenFrom } from '../support.ts'

export const CARD = 'fake-valid-visa-nonce'

/** A user of Braintree's with a monthly subscription over 10.00, whose calls cost so much. */
export async function startCharged(
  price: MeteredPrice = { unitAmount: 5 },
  options: StartBillingOptions = {},
): Promise<FlowTest> {
  const metered = { calls: price, files: { unitAmount: 100, description: 'File' } }
  const test = await start('braintree', { webhooks: false, metered, ...options })
  await test.user.newSubscription('main', 'monthly').create(CARD)
  return test
}

/** Until the next bill was made and an hour more. */
export async function toNextPeriod({ sandbox, billing }: FlowTest, months = 1): Promise<void> {
  await sandbox.clock.advance({ months })
  await sandbox.clock.advance({ hours: 2 })
  await billing.usage.process()
}

/** In Braintree's control panel. */
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

/** Ten calls over 0.50 whose charge was declined. */
export async function declined(test: FlowTest): Promise<void> {
  const { user, billing, sandbox } = test
  await user.reportUsage('calls', 10)
  await billing.usage.process()
  await sandbox.clock.advance({ months: 1 })
  sandbox.trouble.declineNextCharge(user.providerId ?? '', '2001')
  await sandbox.clock.advance({ hours: 2 })
  await billing.usage.process()
  expect(takenFrom(test, user)).toBe(2000)
}
