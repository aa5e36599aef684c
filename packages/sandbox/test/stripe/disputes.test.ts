import type Stripe from 'stripe'
import { expect, it } from 'vitest'
import {
  catchStripeError,
  seconds,
  seedCustomer,
  seedPrices,
  startStripeSandbox,
} from './support.ts'

it('the Stripe sandbox withdraws a disputed amount and a fee from the balance, and sends the events in order', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const intent = await pay(stripe, 'pm_card_createDispute', 4200)
  const charge = await stripe.charges.retrieve(String(intent.latest_charge))
  expect(charge.disputed).toBe(true)
  const { data } = await stripe.disputes.list({ charge: charge.id })
  expect(data).toHaveLength(1)
  expect(data[0]).toMatchObject({
    amount: 4200,
    balance_transactions: [
      {
        amount: -4200,
        fee: 1500,
        fee_details: [{ amount: 1500, description: 'Dispute fee', type: 'stripe_fee' }],
        net: -5700,
        reporting_category: 'dispute',
        type: 'adjustment',
      },
    ],
    evidence_details: {
      due_by: seconds('2026-02-08T23:59:59Z'),
      has_evidence: false,
      submission_count: 0,
    },
    is_charge_refundable: false,
    payment_intent: intent.id,
    payment_method_details: {
      card: { brand: 'visa', case_type: 'chargeback', network_reason_code: '10.4' },
    },
    reason: 'fraudulent',
    status: 'needs_response',
  })
  const told = sandbox.stripe.events().map((event) => event.type)
  expect(told.slice(told.indexOf('charge.succeeded'))).toEqual([
    'charge.succeeded',
    'charge.dispute.created',
    'charge.dispute.funds_withdrawn',
    'payment_intent.succeeded',
    'charge.updated',
  ])
  const refund = await catchStripeError(stripe.refunds.create({ charge: charge.id, amount: 1 }))
  expect(refund.code).toBe('charge_disputed')
  const [withdrawal] = data[0]?.balance_transactions ?? []
  const found = await stripe.balanceTransactions.retrieve(withdrawal?.id ?? '', {
    expand: ['source'],
  })
  expect(found.source).toMatchObject({ id: data[0]?.id, object: 'dispute' })
})

it('the Stripe sandbox returns the disputed amount, but not the fee, when the dispute is won', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  await pay(stripe, 'pm_card_createDisputeProductNotReceived', 4200)
  const dispute = await newest(stripe)
  expect(dispute.reason).toBe('product_not_received')
  const staged = await stripe.disputes.update(dispute.id, {
    evidence: { customer_name: 'Ada' },
    submit: false,
  })
  expect(staged).toMatchObject({
    status: 'needs_response',
    evidence_details: { has_evidence: true, submission_count: 0 },
  })
  const answered = await stripe.disputes.update(dispute.id, {
    evidence: { uncategorized_text: 'winning_evidence' },
  })
  expect(answered).toMatchObject({
    evidence: { customer_name: 'Ada', uncategorized_text: 'winning_evidence' },
    evidence_details: { submission_count: 1, submission_method: 'manual' },
    status: 'under_review',
  })
  const won = await stripe.disputes.retrieve(dispute.id)
  expect(won).toMatchObject({ is_charge_refundable: true, status: 'won' })
  expect(won.balance_transactions.map(({ amount, fee }) => [amount, fee])).toEqual([
    [-4200, 1500],
    [4200, 0],
  ])
  const told = sandbox.stripe.events().map((event) => event.type)
  expect(told.slice(-3)).toEqual([
    'charge.dispute.updated',
    'charge.dispute.funds_reinstated',
    'charge.dispute.closed',
  ])
  expect((await catchStripeError(stripe.disputes.close(dispute.id))).message).toBe(
    'This dispute is already closed',
  )
  await stripe.refunds.create({ charge: String(dispute.charge), amount: 200 })
  // 4200 less 2.9 % and 30 cents is 4048; then less 1500 and less 200.
  const { pending } = await stripe.balance.retrieve()
  expect(pending).toMatchObject([{ amount: 4048 - 1500 - 200, currency: 'usd' }])
})

it('a dispute at Stripe is lost by the text losing_evidence, by closing it, and by missing the deadline', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  await pay(stripe, 'pm_card_createDispute', 1000)
  const first = await newest(stripe)
  const evidence = { uncategorized_text: 'losing_evidence' }
  await stripe.disputes.update(first.id, { evidence })
  expect((await stripe.disputes.retrieve(first.id)).status).toBe('lost')
  expect((await catchStripeError(stripe.disputes.update(first.id, { evidence }))).statusCode).toBe(
    400,
  )
  await pay(stripe, 'pm_card_createDispute', 2000)
  const second = await newest(stripe)
  expect((await stripe.disputes.close(second.id)).status).toBe('lost')
  await pay(stripe, 'pm_card_createDispute', 3000)
  const third = await newest(stripe)
  await pay(stripe, 'pm_card_createDispute', 4000)
  const answered = await newest(stripe)
  await stripe.disputes.update(answered.id, { evidence: { customer_name: 'Ada' } })
  await sandbox.clock.advanceTo(new Date('2026-02-08T23:59:59Z'))
  expect((await stripe.disputes.retrieve(third.id)).status).toBe('needs_response')
  await sandbox.clock.advance({ hours: 1 })
  expect(await stripe.disputes.retrieve(third.id)).toMatchObject({
    evidence_details: { past_due: true },
    status: 'lost',
  })
  // Only a test can decide a dispute with submitted evidence.
  await sandbox.clock.advance({ days: 20 })
  expect((await stripe.disputes.retrieve(answered.id)).status).toBe('under_review')
  expect(sandbox.stripe.decideDispute(answered.id, 'won').status).toBe('won')
  expect(sandbox.stripe.events('charge.dispute.closed')).toHaveLength(4)
  expect(sandbox.stripe.events('charge.dispute.funds_reinstated')).toHaveLength(1)
})

it('the Stripe sandbox withdraws nothing for an inquiry, and the disputed amount once it becomes a dispute', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  await pay(stripe, 'pm_card_createDisputeInquiry', 5000)
  const inquiry = await newest(stripe)
  expect(inquiry).toMatchObject({
    balance_transactions: [],
    is_charge_refundable: true,
    payment_method_details: { card: { case_type: 'inquiry', network_reason_code: '10' } },
    status: 'warning_needs_response',
  })
  expect(sandbox.stripe.events('charge.dispute.funds_withdrawn')).toEqual([])
  await stripe.refunds.create({ charge: String(inquiry.charge), amount: 1000 })
  expect((await catchStripeError(stripe.disputes.close(inquiry.id))).statusCode).toBe(400)
  await stripe.disputes.update(inquiry.id, {
    evidence: { uncategorized_text: 'escalate_inquiry_evidence' },
  })
  expect(await stripe.disputes.retrieve(inquiry.id)).toMatchObject({
    amount: 4000,
    balance_transactions: [{ amount: -4000, fee: 1500 }],
    is_charge_refundable: false,
    payment_method_details: { card: { case_type: 'chargeback', network_reason_code: '10.4' } },
    status: 'needs_response',
  })
  await pay(stripe, 'pm_card_createDisputeInquiry', 700)
  const forgotten = await newest(stripe)
  await sandbox.clock.advance({ days: 121 })
  expect(await stripe.disputes.retrieve(forgotten.id)).toMatchObject({
    balance_transactions: [],
    status: 'warning_closed',
  })
})

it('the Stripe sandbox opens a dispute about the captured amount at the capture, and about any charge that a test names', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const held = await pay(stripe, 'pm_card_createDispute', 2000, { capture_method: 'manual' })
  expect((await stripe.disputes.list()).data).toEqual([])
  await stripe.paymentIntents.capture(held.id, { amount_to_capture: 1500 })
  expect((await stripe.disputes.list({ payment_intent: held.id })).data).toMatchObject([
    { amount: 1500 },
  ])
  const { customer } = await seedCustomer(stripe)
  const { monthly } = await seedPrices(stripe)
  await stripe.subscriptions.create({ customer: customer.id, items: [{ price: monthly.id }] })
  const [charge] = sandbox.stripe.charges(customer.id)
  const opened = sandbox.stripe.disputeCharge(charge?.id ?? '', { reason: 'subscription_canceled' })
  expect(opened).toMatchObject({ amount: 1000, reason: 'subscription_canceled' })
  expect(() => sandbox.stripe.disputeCharge(charge?.id ?? '')).toThrow('disputed already')
  expect(sandbox.stripe.disputes(charge?.id)).toMatchObject([{ id: opened.id }])
  expect(sandbox.stripe.dispute(opened.id)?.status).toBe('needs_response')
})

it('the Stripe sandbox rejects dispute evidence that it cannot store', async () => {
  const { stripe } = await startStripeSandbox()
  await pay(stripe, 'pm_card_createDispute', 1000)
  const { id } = await newest(stripe)
  for (const [evidence, param] of [
    [{ receipt: 'file_1' }, 'evidence[receipt]'],
    [{ uncategorized_text: 'x'.repeat(20_001) }, 'evidence[uncategorized_text]'],
    [
      { enhanced_evidence: { visa_compliance: { fee_acknowledged: true } } },
      'evidence[enhanced_evidence]',
    ],
  ] as Array<[Stripe.DisputeUpdateParams.Evidence, string]>) {
    expect((await catchStripeError(stripe.disputes.update(id, { evidence }))).param).toBe(param)
  }
  expect((await stripe.disputes.retrieve(id)).evidence_details.has_evidence).toBe(false)
})

async function pay(
  stripe: Stripe,
  card: string,
  amount: number,
  more: Partial<Stripe.PaymentIntentCreateParams> = {},
): Promise<Stripe.PaymentIntent> {
  return await stripe.paymentIntents.create({
    amount,
    currency: 'usd',
    payment_method: card,
    confirm: true,
    automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
    ...more,
  })
}

async function newest(stripe: Stripe): Promise<Stripe.Dispute> {
  const [dispute] = (await stripe.disputes.list({ limit: 1 })).data
  if (!dispute) throw new Error('no dispute')
  return dispute
}
