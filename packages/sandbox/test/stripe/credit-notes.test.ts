import fc from 'fast-check'
import type Stripe from 'stripe'
import { expect, it } from 'vitest'
import { catchStripeError, seedCustomer, seedPrices, startStripeSandbox } from './support.ts'

it('the Stripe sandbox reduces the amount due of an open invoice by a credit note, until the note is voided', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const invoice = await openInvoice(stripe, customer.id, [{ amount: 3000 }])
  const note = await stripe.creditNotes.create({ invoice: invoice.id, amount: 1000, memo: 'Sorry' })
  expect(note).toMatchObject({
    amount: 1000,
    number: `${invoice.number}-CN-01`,
    pre_payment_amount: 1000,
    post_payment_amount: 0,
    status: 'issued',
    type: 'pre_payment',
  })
  expect(await stripe.invoices.retrieve(invoice.id)).toMatchObject({
    total: 3000,
    amount_due: 2000,
    amount_remaining: 2000,
    pre_payment_credit_notes_amount: 1000,
    status: 'open',
  })
  const second = await stripe.creditNotes.create({ invoice: invoice.id, amount: 500 })
  expect(second.number).toBe(`${invoice.number}-CN-02`)
  expect((await stripe.creditNotes.voidCreditNote(note.id)).status).toBe('void')
  expect((await stripe.invoices.retrieve(invoice.id)).amount_due).toBe(2500)
  expect((await catchStripeError(stripe.creditNotes.voidCreditNote(note.id))).statusCode).toBe(400)
  const paid = await stripe.invoices.pay(invoice.id, { expand: ['payments'] })
  expect(paid).toMatchObject({ amount_paid: 2500, amount_remaining: 0, status: 'paid' })
  expect(paid.payments?.data).toMatchObject([{ amount_paid: 2500, amount_requested: 2500 }])
  expect(sandbox.stripe.charges(customer.id)).toMatchObject([{ amount: 2500 }])
  expect((await catchStripeError(stripe.creditNotes.voidCreditNote(second.id))).message).toContain(
    'open',
  )
  expect(sandbox.stripe.events('credit_note.created')).toHaveLength(2)
  expect(sandbox.stripe.events('credit_note.voided')).toHaveLength(1)
})

it('the Stripe sandbox marks an invoice as paid if a credit note leaves nothing due, and activates its subscription', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe, 'pm_card_chargeCustomerFail')
  const { monthly } = await seedPrices(stripe)
  const subscription = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }],
    payment_behavior: 'allow_incomplete',
    expand: ['latest_invoice'],
  })
  expect(subscription.status).toBe('incomplete')
  const { id = '' } = subscription.latest_invoice as Stripe.Invoice
  await stripe.creditNotes.create({ invoice: id, amount: 1000 })
  expect(await stripe.invoices.retrieve(id)).toMatchObject({
    amount_due: 0,
    amount_paid: 0,
    status: 'paid',
  })
  expect((await stripe.subscriptions.retrieve(subscription.id)).status).toBe('active')
  expect(sandbox.stripe.events('invoice.paid')).toHaveLength(1)
  expect(sandbox.stripe.events('payment_intent.canceled')).toHaveLength(1)
})

it('the Stripe sandbox returns the paid amount of a credit note as a refund, as credit or outside of Stripe', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const invoice = await openInvoice(stripe, customer.id, [{ amount: 3000 }])
  await stripe.invoices.pay(invoice.id)
  const split = { refund_amount: 500, credit_amount: 300, out_of_band_amount: 200 }
  const short = await catchStripeError(
    stripe.creditNotes.create({ invoice: invoice.id, amount: 1001, ...split }),
  )
  expect(short.message).toContain('(1000) must equal the post payment credit note amount (1001)')
  expect((await stripe.refunds.list()).data).toEqual([])
  const note = await stripe.creditNotes.create({
    invoice: invoice.id,
    amount: 1000,
    reason: 'product_unsatisfactory',
    ...split,
    expand: ['customer_balance_transaction', 'refunds.refund'],
  })
  expect(note).toMatchObject({
    out_of_band_amount: 200,
    post_payment_amount: 1000,
    pre_payment_amount: 0,
    type: 'post_payment',
    customer_balance_transaction: { amount: -300, credit_note: note.id, type: 'credit_note' },
    refunds: [{ amount_refunded: 500, refund: { amount: 500, status: 'succeeded' } }],
  })
  expect((await stripe.customers.retrieve(customer.id)) as Stripe.Customer).toMatchObject({
    balance: -300,
  })
  expect(await stripe.invoices.retrieve(invoice.id)).toMatchObject({
    amount_due: 3000,
    amount_paid: 3000,
    post_payment_credit_notes_amount: 1000,
    status: 'paid',
  })
  expect(sandbox.stripe.charges(customer.id)).toMatchObject([{ amount_refunded: 500 }])
  expect((await catchStripeError(stripe.creditNotes.voidCreditNote(note.id))).statusCode).toBe(400)
})

it('the Stripe sandbox accepts earlier refunds in a credit note, and counts each refunded cent only once', async () => {
  const { stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const invoice = await openInvoice(stripe, customer.id, [{ amount: 3000 }])
  const paid = await stripe.invoices.pay(invoice.id, { expand: ['payments'] })
  const intent = String(paid.payments?.data[0]?.payment.payment_intent)
  const refund = await stripe.refunds.create({ payment_intent: intent, amount: 2500 })
  const create = (params: Partial<Stripe.CreditNoteCreateParams>) =>
    stripe.creditNotes.create({ invoice: invoice.id, ...params })
  // Amounts refunded without a credit note cannot be credited again.
  expect((await catchStripeError(create({ amount: 600, credit_amount: 600 }))).param).toBe('amount')
  const linked = await create({
    amount: 1500,
    refunds: [{ refund: refund.id, amount_refunded: 1500 }],
  })
  expect(linked.refunds).toMatchObject([{ refund: refund.id, amount_refunded: 1500 }])
  const again = { refunds: [{ refund: refund.id, amount_refunded: 1500 }] }
  expect((await catchStripeError(create({ amount: 1500, ...again }))).param).toBe(
    'refunds[0][amount_refunded]',
  )
  await create({ amount: 1000, refunds: [{ refund: refund.id }] })
  await create({ amount: 500, credit_amount: 500 })
  expect((await catchStripeError(create({ amount: 1, credit_amount: 1 }))).param).toBe('amount')
  expect((await stripe.creditNotes.list({ invoice: invoice.id })).data).toHaveLength(3)
  const other = await openInvoice(stripe, customer.id, [{ amount: 3000 }])
  await stripe.invoices.pay(other.id)
  const foreign = stripe.creditNotes.create({
    invoice: other.id,
    amount: 1,
    refunds: [{ refund: refund.id }],
  })
  expect((await catchStripeError(foreign)).param).toBe('refunds[0][refund]')
})

it('the Stripe sandbox credits a part of an invoice line with the same share of its discount and taxes, to the cent', async () => {
  const { stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const tax = await stripe.taxRates.create({
    display_name: 'T',
    percentage: 7.77,
    inclusive: false,
  })
  const coupon = await stripe.coupons.create({ percent_off: 10, duration: 'once' })
  const invoice = await openInvoice(
    stripe,
    customer.id,
    [{ unit_amount_decimal: '333' as never, quantity: 3 }],
    { default_tax_rates: [tax.id], discounts: [{ coupon: coupon.id }] },
  )
  // 999 less 100 is 899; 7.77 % of it is 69.85.
  expect(invoice).toMatchObject({ subtotal: 999, total: 969 })
  const [line] = invoice.lines.data
  const credit = (part: { amount?: number; quantity?: number }) => ({
    invoice: invoice.id,
    lines: [{ type: 'invoice_line_item' as const, invoice_line_item: line?.id ?? '', ...part }],
  })
  const first = await stripe.creditNotes.create(credit({ quantity: 1 }))
  // A third of 100 is 33, of 70 is 23.
  expect(first).toMatchObject({ subtotal: 333, discount_amount: 33, total: 323 })
  expect(first.total_taxes).toMatchObject([{ amount: 23, tax_rate_details: { tax_rate: tax.id } }])
  expect((await catchStripeError(stripe.creditNotes.create(credit({ amount: 1 })))).param).toBe(
    'lines[0][amount]',
  )
  expect((await catchStripeError(stripe.creditNotes.create(credit({ quantity: 3 })))).param).toBe(
    'lines[0][quantity]',
  )
  const rest = await stripe.creditNotes.create(credit({ quantity: 2 }))
  expect(rest).toMatchObject({ subtotal: 666, discount_amount: 67, total: 646 })
  expect(first.total + rest.total).toBe(969)
  expect((await stripe.invoices.retrieve(invoice.id)).status).toBe('paid')
  expect((await stripe.creditNotes.listLineItems(rest.id)).data).toMatchObject([
    { amount: 666, invoice_line_item: line?.id, quantity: 2, type: 'invoice_line_item' },
  ])
})

it('the Stripe sandbox creates credit notes that add up to the invoice, however its lines are divided', async () => {
  const { stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const coupon = await stripe.coupons.create({ percent_off: 33.33, duration: 'forever' })
  const rates = [
    await stripe.taxRates.create({ display_name: 'A', percentage: 7.77, inclusive: false }),
    await stripe.taxRates.create({ display_name: 'B', percentage: 19, inclusive: true }),
  ]
  const cuts = fc.array(fc.integer({ min: 10, max: 700 }), { minLength: 1, maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(cuts, fc.boolean(), fc.boolean(), async (parts, coupons, taxes) => {
      const whole = parts.reduce((sum, part) => sum + part, 100)
      const invoice = await openInvoice(stripe, customer.id, [{ amount: whole }], {
        ...(coupons ? { discounts: [{ coupon: coupon.id }] } : {}),
        ...(taxes ? { default_tax_rates: rates.map(({ id }) => id) } : {}),
      })
      const line = invoice.lines.data[0]?.id ?? ''
      let left = invoice.total
      for (const amount of [...parts, 100]) {
        const note = await stripe.creditNotes.create({
          invoice: invoice.id,
          lines: [{ type: 'invoice_line_item', invoice_line_item: line, amount }],
        })
        left -= note.total
        const { amount_due } = await stripe.invoices.retrieve(invoice.id)
        expect(amount_due).toBe(left)
      }
      expect(left).toBe(0)
    }),
    { numRuns: 15 },
  )
})

it('the Stripe sandbox credits custom lines in a credit note, with tax by the given tax rates', async () => {
  const { stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const inside = await stripe.taxRates.create({
    display_name: 'V',
    percentage: 20,
    inclusive: true,
  })
  const invoice = await openInvoice(stripe, customer.id, [{ amount: 5000 }])
  const custom = {
    type: 'custom_line_item' as const,
    description: 'Late delivery',
    unit_amount: 600,
    quantity: 2,
    tax_rates: [inside.id],
  }
  const note = await stripe.creditNotes.create({ invoice: invoice.id, lines: [custom] })
  expect(note).toMatchObject({ subtotal: 1200, subtotal_excluding_tax: 1000, total: 1200 })
  expect(note.lines.data).toMatchObject([{ unit_amount: 600, tax_rates: [{ id: inside.id }] }])
  const { description: _description, ...nameless } = custom
  for (const [lines, param] of [
    [[{ ...custom, amount: 5 }], 'lines[0][amount]'],
    [[nameless], 'lines[0][description]'],
    [[{ ...custom, unit_amount: -600 }], 'lines[0][unit_amount]'],
    [[{ ...custom, tax_rates: ['txr_x'] }], 'lines[0][tax_rates][0]'],
    [[{ type: 'invoice_line_item', invoice_line_item: 'il_x', amount: 1 }], LINE],
    [[{ ...custom, tax_amounts: [{ amount: 1, tax_rate: inside.id, taxable_amount: 5 }] }], TAXES],
  ] as Array<[Stripe.CreditNoteCreateParams.Line[], string]>) {
    const refused = await catchStripeError(
      stripe.creditNotes.create({ invoice: invoice.id, lines }),
    )
    expect(refused.param).toBe(param)
  }
})

const LINE = 'lines[0][invoice_line_item]'
const TAXES = 'lines[0][tax_amounts]'

it('the Stripe sandbox previews a credit note without changing anything', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const invoice = await openInvoice(stripe, customer.id, [{ amount: 3000 }])
  await stripe.invoices.pay(invoice.id)
  const params = { invoice: invoice.id, amount: 1200, refund_amount: 1200 }
  const events = sandbox.stripe.events().length
  const preview = await stripe.creditNotes.preview(params)
  const lines = await stripe.creditNotes.listPreviewLineItems(params)
  expect(lines.data).toMatchObject([{ amount: 1200, type: 'custom_line_item' }])
  const greedy = { ...params, amount: 3001, refund_amount: 3001 }
  expect((await catchStripeError(stripe.creditNotes.preview(greedy))).statusCode).toBe(400)
  expect(sandbox.stripe.events()).toHaveLength(events)
  expect((await stripe.creditNotes.list({ customer: customer.id })).data).toEqual([])
  const note = await stripe.creditNotes.create(params)
  const sums = ({ amount, subtotal, total, post_payment_amount, number, type }: typeof note) => ({
    ...{ amount, subtotal, total, post_payment_amount, number, type },
  })
  expect(sums(preview)).toEqual(sums(note))
})

it('the Stripe sandbox rejects credit notes for drafts and void invoices, and empty ones', async () => {
  const { stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const draft = await stripe.invoices.create({ customer: customer.id })
  const create = (params: Partial<Stripe.CreditNoteCreateParams>) =>
    catchStripeError(stripe.creditNotes.create({ invoice: draft.id ?? '', ...params }))
  expect((await create({ amount: 1 })).param).toBe('invoice')
  expect((await create({ invoice: 'in_x', amount: 1 })).code).toBe('resource_missing')
  const open = await openInvoice(stripe, customer.id, [{ amount: 3000 }])
  expect((await create({ invoice: open.id })).param).toBe('amount')
  expect((await create({ invoice: open.id, amount: 0 })).code).toBe('parameter_invalid_integer')
  expect((await create({ invoice: open.id, amount: 10, refund_amount: 10 })).statusCode).toBe(400)
  expect(
    (await create({ invoice: open.id, shipping_cost: { shipping_rate: 'shr_1' } })).param,
  ).toBe('shipping_cost')
  await stripe.invoices.voidInvoice(open.id)
  expect((await create({ invoice: open.id, amount: 1 })).param).toBe('invoice')
})

async function openInvoice(
  stripe: Stripe,
  customer: string,
  items: ReadonlyArray<Omit<Stripe.InvoiceItemCreateParams, 'customer' | 'currency'>>,
  params: Stripe.InvoiceCreateParams = {},
): Promise<Stripe.Invoice & { id: string }> {
  const draft = await stripe.invoices.create({ customer, ...params })
  for (const item of items) {
    await stripe.invoiceItems.create({
      customer,
      currency: 'usd',
      invoice: draft.id ?? '',
      ...item,
    })
  }
  return (await stripe.invoices.finalizeInvoice(draft.id ?? '')) as Stripe.Invoice & { id: string }
}
