import type Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import { requireCardNumber, TEST_CARD_NAMES } from '../../src/stripe/payments/card-numbers.ts'
import { catchStripeError, startStripeSandbox } from './support.ts'

async function payWith(stripe: Stripe, card: string, address?: Stripe.AddressParam) {
  const method = address
    ? {
        payment_method_data: {
          type: 'card',
          card: { token: card.replace('pm_card_', 'tok_') },
          billing_details: { address },
        } as Stripe.PaymentIntentCreateParams.PaymentMethodData,
      }
    : { payment_method: card }
  const intent = await stripe.paymentIntents.create({
    amount: 2000,
    currency: 'usd',
    ...method,
    confirm: true,
    automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
    expand: ['latest_charge'],
  })
  return intent.latest_charge as Stripe.Charge
}

it('the Stripe sandbox recognizes the number of every card that Stripe documents, with its last four digits', () => {
  for (const [number, name] of Object.entries(TEST_CARD_NAMES)) {
    expect([name, requireCardNumber(number).card.last4]).toEqual([name, number.slice(-4)])
  }
})

describe("refunds to Stripe's test cards", () => {
  it('stay pending for an hour for pm_card_pendingRefund, then succeed with refund.updated', async () => {
    const { sandbox, stripe } = await startStripeSandbox()
    const charge = await payWith(stripe, 'pm_card_pendingRefund')
    const refund = await stripe.refunds.create({ charge: charge.id })
    expect(refund).toMatchObject({ status: 'pending', pending_reason: 'processing' })
    expect((await stripe.charges.retrieve(charge.id)).refunded).toBe(true)
    await sandbox.clock.advance({ minutes: 59 })
    expect((await stripe.refunds.retrieve(refund.id)).status).toBe('pending')
    await sandbox.clock.advance({ minutes: 1 })
    const done = await stripe.refunds.retrieve(refund.id)
    expect([done.status, done.pending_reason]).toEqual(['succeeded', undefined])
    expect(sandbox.stripe.events('refund.updated')).toHaveLength(1)
    await sandbox.clock.advance({ days: 3 })
    expect((await stripe.refunds.retrieve(refund.id)).status).toBe('succeeded')
    expect(sandbox.failedJobs()).toEqual([])
  })

  it('succeed and fail an hour later for pm_card_refundFail, and the charge can be refunded again', async () => {
    const { sandbox, stripe } = await startStripeSandbox()
    const charge = await payWith(stripe, 'pm_card_refundFail')
    const refund = await stripe.refunds.create({ charge: charge.id, amount: 500 })
    expect(refund.status).toBe('succeeded')
    await sandbox.clock.advance({ hours: 1 })
    expect((await stripe.refunds.retrieve(refund.id)).status).toBe('failed')
    expect(sandbox.stripe.events('refund.failed')).toHaveLength(1)
    expect((await stripe.charges.retrieve(charge.id)).amount_refunded).toBe(0)
    expect(sandbox.failedJobs()).toEqual([])
  })

  it('fail only once for pm_card_refundFail if a test made them fail earlier', async () => {
    const { sandbox, stripe } = await startStripeSandbox()
    const charge = await payWith(stripe, 'pm_card_refundFail')
    const refund = await stripe.refunds.create({ charge: charge.id })
    sandbox.stripe.failRefund(refund.id)
    await sandbox.clock.advance({ hours: 2 })
    expect(sandbox.stripe.events('refund.failed')).toHaveLength(1)
    expect(sandbox.failedJobs()).toEqual([])
  })
})

it.each(['pm_card_radarBlock', 'pm_card_riskLevelHighest'])(
  'the Stripe sandbox attaches %s, and blocks its charges as too risky before asking the bank',
  async (card) => {
    const { sandbox, stripe } = await startStripeSandbox()
    const customer = await stripe.customers.create()
    await stripe.paymentMethods.attach(card, { customer: customer.id })
    expect(await catchStripeError(payWith(stripe, card))).toMatchObject({
      statusCode: 402,
      code: 'card_declined',
      decline_code: 'fraudulent',
    })
    expect(sandbox.stripe.charges().at(-1)).toMatchObject({
      status: 'failed',
      outcome: {
        network_status: 'not_sent_to_network',
        reason: 'highest_risk_level',
        risk_level: 'highest',
        type: 'blocked',
      },
    })
  },
)

it('the Stripe sandbox charges pm_card_riskLevelElevated with an elevated risk level', async () => {
  const { stripe } = await startStripeSandbox()
  expect((await payWith(stripe, 'pm_card_riskLevelElevated')).outcome).toMatchObject({
    risk_level: 'elevated',
    type: 'authorized',
  })
  expect((await payWith(stripe, 'pm_card_visa')).outcome?.risk_level).toBe('normal')
})

const ADDRESS = { line1: '1 Main Street', postal_code: '12345' }

it.each([
  ['pm_card_cvcCheckFail', ADDRESS, ['pass', 'pass', 'fail']],
  ['pm_card_avsFail', ADDRESS, ['fail', 'fail', 'pass']],
  ['pm_card_avsLine1Fail', ADDRESS, ['fail', 'pass', 'pass']],
  ['pm_card_avsZipFail', ADDRESS, ['pass', 'fail', 'pass']],
  ['pm_card_avsUnchecked', ADDRESS, ['unavailable', 'unavailable', 'pass']],
  ['pm_card_avsFail', undefined, [null, null, 'pass']],
] as const)(
  'the Stripe sandbox charges the test card %s with the address %o, and returns the checks %o',
  async (card, address, checks) => {
    const { stripe } = await startStripeSandbox()
    const charge = await payWith(stripe, card, address)
    const seen = charge.payment_method_details?.card?.checks
    expect(charge.status).toBe('succeeded')
    expect([seen?.address_line1_check, seen?.address_postal_code_check, seen?.cvc_check]).toEqual(
      checks,
    )
  },
)

it('the Stripe sandbox makes the money of a charge available immediately for pm_card_bypassPending, and for no other card', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const funds = async () => {
    const { available, pending } = await stripe.balance.retrieve()
    return [available[0]?.amount, pending[0]?.amount]
  }
  await payWith(stripe, 'pm_card_visa')
  await payWith(stripe, 'pm_card_bypassPending')
  expect(await funds()).toEqual([1912, 1912])
  await sandbox.clock.advance({ days: 2 })
  expect(await funds()).toEqual([3824, 0])
})

it.each([
  ['pm_card_jp', 'JP', 'credit'],
  ['pm_card_se', 'SE', 'credit'],
  ['pm_card_th_debit', 'TH', 'debit'],
])(
  'the Stripe sandbox reports the country and kind of the card %s',
  async (card, country, funding) => {
    const { stripe } = await startStripeSandbox()
    const charge = await payWith(stripe, card)
    expect(charge.payment_method_details?.card).toMatchObject({ country, funding })
  },
)
