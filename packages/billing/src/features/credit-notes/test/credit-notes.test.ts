import { describe, expect, it } from 'vitest'
import { createImpatientBilling, LOSSES, loseResponse } from '../../../../test/lost-answers.ts'
import { extractPdfText } from '../../../../test/read-pdf.ts'
import {
  type FlowTest,
  start,
  stripeSdk,
  sumChargedCents,
  sumRefundedCents,
} from '../../../../test/support.ts'
import {
  AmountTooLarge,
  type BillableUser,
  CreditNoteNotFound,
  type CreditNoteOptions,
  InvalidAmount,
  InvalidArgument,
  type Invoice,
  money,
  ProviderRejected,
  ProviderUnavailable,
  RefundRefused,
  Unsupported,
} from '../../../index.ts'

const seller = { vendor: 'Tollgate Ltd', product: 'Gold' }

/** A subscription of three seats at 10.00, with 19 % tax on top: 35.70. */
async function subscribed(options: Parameters<typeof start>[1] = {}) {
  const test = await start('stripe', { taxPercentage: () => 19, ...options })
  await test.user.newSubscription('main', 'monthly').quantity(3).create('pm_card_visa')
  return { ...test, invoice: await newest(test.user) }
}

async function newest(user: BillableUser): Promise<Invoice> {
  const [invoice] = await user.invoicesIncludingPending()
  if (!invoice) throw new Error('There is no invoice')
  return invoice
}

async function countStoredOperations({ database }: FlowTest): Promise<number> {
  return (await database.kysely.selectFrom('billing_operations').select('id').execute()).length
}

describe('a credit note at Stripe', () => {
  it('credits a whole invoice only once, line by line and with its taxes', async () => {
    const test = await subscribed()
    const { user, invoice } = test
    expect(invoice.rawTotal()).toEqual(money(3570, 'usd'))
    const options = { to: 'refund', reason: 'order_change', memo: 'Thank you' } as const
    const note = await invoice.creditNote(options)
    expect(note.data).toMatchObject({
      invoice: invoice.id,
      invoiceNumber: invoice.number,
      subtotal: 3000,
      taxes: [{ percentage: '19', amount: 570, inclusive: false }],
      total: 3570,
      givenBack: { refunded: 3570, toBalance: 0, outside: 0 },
      reason: 'order_change',
      memo: 'Thank you',
      isVoid: false,
    })
    expect([note.total(), note.total('de'), note.tax()]).toEqual([
      '$35.70',
      '35,70\u00a0$',
      '$5.70',
    ])
    expect(sumRefundedCents(test, user)).toBe(3570)
    expect((await invoice.creditNote(options)).id).toBe(note.id)
    expect((await invoice.creditNote({ to: 'outside' })).id).toBe(note.id)
    expect(await invoice.refunded()).toEqual(money(3570, 'usd'))
    expect((await user.creditNotes()).map(({ number }) => number)).toEqual([note.number])
    expect(await countStoredOperations(test)).toBe(0)
    expect(await user.subscribed('main')).toBe(true)
  })

  it('credits first some lines, then an amount, then the rest of an invoice, exactly to the cent', async () => {
    const test = await subscribed()
    const { user, invoice } = test
    const line = invoice.lines[0]?.id ?? ''
    const seat = await invoice.creditNote({ to: 'balance', lines: [{ line, quantity: 1 }] })
    expect(seat.data).toMatchObject({ subtotal: 1000, total: 1190 })
    expect(await user.balance()).toEqual(money(1190, 'usd'))
    const amount = await invoice.creditNote({ to: 'outside', amount: money(380, 'usd') })
    expect(amount.data.givenBack).toEqual({ refunded: 0, toBalance: 0, outside: 380 })
    const tooMuch = invoice.creditNote({ to: 'refund', amount: money(2001, 'usd') })
    await expect(tooMuch).rejects.toThrow(AmountTooLarge)
    const rest = await invoice.creditNote({ to: 'refund' })
    expect(rest.rawTotal()).toEqual(money(3570 - 1190 - 380, 'usd'))
    expect(sumRefundedCents(test, user)).toBe(2000)
    expect(await user.creditNotes({ limit: 2 })).toHaveLength(2)
  })

  it('is issued once per idempotency key, and the key is rejected for another amount', async () => {
    const test = await subscribed()
    const { user, invoice } = test
    const options = { to: 'refund', amount: money(600, 'usd'), idempotencyKey: 'back-1' } as const
    const users = [invoice, await newest(await test.another().user(user.id))]
    const made = await Promise.all(
      Array.from({ length: 10 }, (_, index) => users[index % 2]?.creditNote(options)),
    )
    expect(new Set(made.map((each) => each?.id)).size).toBe(1)
    expect(sumRefundedCents(test, user)).toBe(600)
    const another = invoice.creditNote({ ...options, amount: money(700, 'usd') })
    await expect(another).rejects.toThrow(ProviderRejected)
    // Without a key, each call issues another credit note.
    const { idempotencyKey: _key, ...again } = options
    await invoice.creditNote(again)
    await invoice.creditNote(again)
    expect(sumRefundedCents(test, user)).toBe(1800)
  })

  it('reduces the amount due of an unpaid invoice', async () => {
    const { user, sandbox, ...test } = await start('stripe')
    await user.newSubscription('main', 'monthly').create('pm_card_visa')
    await user.updateCard('pm_card_chargeCustomerFail')
    await test.advance({ days: 32 })
    const open = await newest(user)
    expect(open.paid).toBe(false)
    const note = await open.creditNote({ to: 'refund', amount: money(400, 'usd') })
    expect(note.data.givenBack).toEqual({ refunded: 0, toBalance: 0, outside: 0 })
    await user.updateCard('pm_card_visa')
    await (await newest(user)).pay()
    const stripe = await stripeSdk({ sandbox } as FlowTest)
    expect((await stripe.invoices.retrieve(open.id)).amount_paid).toBe(600)
  })

  it.each(LOSSES)('is issued once when a response is lost (kind of failure: %s)', async (how) => {
    const test = await start('stripe', { webhooks: false })
    const { sandbox } = test
    for (let call = 0, wasHit = true; wasHit && call < 20; call++) {
      const user = await test.createUser()
      await user.updateCard('pm_card_visa')
      await user.invoiceFor('A T-shirt', 1000)
      const hasKey = call % 2 === 0
      const options: CreditNoteOptions = {
        to: 'refund',
        amount: money(300, 'usd'),
        ...(hasKey ? { idempotencyKey: `back-${user.id}` } : {}),
      }
      const other = await newest(await createImpatientBilling(test).user(user.id))
      loseResponse(test, 'stripe', { after: call, how })
      const failed = await other.creditNote(options).then(
        () => null,
        (error: unknown) => error,
      )
      wasHit = sandbox.trouble.takeCallTrouble('stripe') === null
      sandbox.trouble.clear()
      if (failed) {
        expect(failed).toBeInstanceOf(ProviderUnavailable)
        await (await newest(user)).creditNote(options)
      }
      expect(sumRefundedCents(test, user), `call ${call}`).toBe(300)
      expect(await user.creditNotes(), `call ${call}`).toHaveLength(1)
    }
    expect(await countStoredOperations(test)).toBe(0)
  })

  it('returns money paid by card to the card, and returns used credit to the balance', async () => {
    const test = await start('stripe')
    const { user } = test
    await user.updateCard('pm_card_visa')
    await user.creditBalance(money(500, 'usd'), 'Welcome', { gift: true })
    await user.invoiceFor('A coat', 2000)
    expect(sumChargedCents(test, user)).toBe(1500)
    const note = await (await newest(user)).creditNote({ to: 'refund' })
    expect(note.data.givenBack).toEqual({ refunded: 1500, toBalance: 500, outside: 0 })
    expect([sumRefundedCents(test, user), (await user.balance()).amount]).toEqual([1500, 500])
  })

  it('covers only the part of an invoice that was not refunded, unless it documents the refund', async () => {
    const test = await start('stripe')
    const { user } = test
    await user.updateCard('pm_card_visa')
    await user.invoiceFor('A coat', 2000)
    const invoice = await newest(user)
    const { id: refund } = await invoice.refund({ amount: 500 })
    const tooMuch = invoice.creditNote({ to: 'outside', amount: money(1501, 'usd') })
    await expect(tooMuch).rejects.toThrow(AmountTooLarge)
    const otherUser = await test.createUser()
    await otherUser.updateCard('pm_card_visa')
    await otherUser.invoiceFor('A hat', 700)
    const { id: theirs } = await (await newest(otherUser)).refund()
    for (const foreign of [theirs, 're_none']) {
      const note = invoice.creditNote({ to: 'refund', refund: foreign })
      await expect(note).rejects.toMatchObject({
        code: 'invalid_argument',
        message: expect.stringContaining(foreign),
      })
    }
    const rest = await invoice.creditNote({ to: 'outside' })
    expect(rest.rawTotal()).toEqual(money(1500, 'usd'))
    expect((await invoice.creditNote({ to: 'outside' })).id).toBe(rest.id)
    const explained = await invoice.creditNote({ to: 'refund', refund })
    expect(explained.data).toMatchObject({
      total: 500,
      givenBack: { refunded: 500, toBalance: 0, outside: 0 },
      refunds: [refund],
    })
    expect((await invoice.creditNote({ to: 'refund', refund })).id).toBe(explained.id)
    expect(sumRefundedCents(test, user)).toBe(500)
    const pdf = await user.downloadCreditNote(explained.id, seller)
    const text = extractPdfText(new Uint8Array(await pdf.arrayBuffer()))
    for (const words of ['Refunded', '$5.00', invoice.number]) expect(text).toContain(words)
  })

  it('documents a full refund line by line, with its taxes', async () => {
    const test = await subscribed()
    const { user, invoice } = test
    const { id: refund } = await invoice.refund()
    await expect(invoice.creditNote({ to: 'refund' })).rejects.toThrow(AmountTooLarge)
    const note = await invoice.creditNote({ to: 'refund', refund })
    expect(note.data).toMatchObject({ subtotal: 3000, total: 3570, taxes: [{ amount: 570 }] })
    expect(sumRefundedCents(test, user)).toBe(3570)
  })

  it('covers the whole invoice even if the amount of one line is zero', async () => {
    const { user, sandbox } = await start('stripe')
    sandbox.stripe.seedPrice({ id: 'free', unitAmount: 0, interval: 'month', product: 'Free' })
    await user.newSubscription('main', 'monthly').price('free').create('pm_card_visa')
    const invoice = await newest(user)
    expect(invoice.lines.map(({ amount }) => amount).sort()).toEqual([0, 1000])
    const { data } = await invoice.creditNote({ to: 'refund' })
    expect(data).toMatchObject({ total: 1000, lines: [{ amount: 1000 }] })
    expect(data.creditedLines).toHaveLength(1)
  })

  it('covers the whole invoice with its taxes even if some lines are negative', async () => {
    const test = await subscribed()
    const { user } = test
    await (await user.subscription('main')).swap('yearly')
    const invoice = await newest(user)
    expect(invoice.lines.some(({ amount }) => amount < 0)).toBe(true)
    const note = await invoice.creditNote({ to: 'refund' })
    expect(note.rawTotal()).toEqual(invoice.rawTotal())
    expect(note.tax()).toBe(invoice.tax())
    expect(note.data.lines.length).toBeGreaterThan(0)
  })

  it('covers parts of an invoice exactly to the cent if the tax does not divide evenly', async () => {
    const test = await start('stripe', { taxPercentage: () => 7.77 })
    const { user, sandbox } = test
    sandbox.stripe.seedPrice({ id: 'odd', unitAmount: 333, interval: 'month', product: 'Odd' })
    await user.newSubscription('main', 'odd').quantity(3).create('pm_card_visa')
    const invoice = await newest(user)
    const line = invoice.lines[0]?.id ?? ''
    const notes = [1, 2, 3].map((count) => ({
      to: 'balance' as const,
      lines: [{ line, quantity: 1 }],
      idempotencyKey: `seat-${count}`,
    }))
    let sum = 0
    for (const options of notes) sum += (await invoice.creditNote(options)).rawTotal().amount
    expect(sum).toBe(invoice.rawTotal().amount)
    const other = { ...notes[0], to: 'balance' as const, lines: [{ line, quantity: 2 }] }
    await expect(invoice.creditNote(other)).rejects.toThrow(ProviderRejected)
  })

  it('is found only by its own user, and is not created with invalid options', async () => {
    const test = await subscribed()
    const { invoice, user } = test
    const { id } = await invoice.creditNote({ to: 'outside', amount: money(100, 'usd') })
    const bob = await test.createUser({ email: 'bob@example.com' })
    await bob.updateCard('pm_card_visa')
    expect(await bob.findCreditNote(id)).toBeNull()
    expect((await user.findCreditNote(id))?.id).toBe(id)
    await expect(bob.downloadCreditNote(id, seller)).rejects.toThrow(CreditNoteNotFound)
    const ask = (options: object) => invoice.creditNote(options as CreditNoteOptions)
    await expect(ask({})).rejects.toThrow(InvalidArgument)
    await expect(ask({ to: 'outside', reason: 'whim' })).rejects.toThrow(InvalidArgument)
    const both = { to: 'outside', amount: 100, lines: [{ line: 'il_1' }] }
    await expect(ask(both)).rejects.toThrow(InvalidArgument)
    await expect(ask({ to: 'outside', amount: money(1, 'eur') })).rejects.toThrow(InvalidAmount)
    await expect(ask({ to: 'outside', lines: [{ line: 'il_none' }] })).rejects.toThrow(
      ProviderRejected,
    )
    expect(await user.creditNotes()).toHaveLength(1)
    expect(await countStoredOperations(test)).toBe(0)
  })

  it("has a PDF in the customer's language, which shows its memo and refund", async () => {
    const { user, invoice } = await subscribed()
    await user.updateCustomer({
      locale: 'de',
      address: { line1: 'Hauptstraße 1', postalCode: '10115', city: 'Berlin', country: 'DE' },
    })
    const note = await invoice.creditNote({ to: 'refund', memo: 'Wie besprochen' })
    const response = await user.downloadCreditNote(note.id, seller)
    expect(response.headers.get('content-type')).toBe('application/pdf')
    expect(response.headers.get('content-disposition')).toContain(`"${note.number}.pdf"`)
    const text = extractPdfText(new Uint8Array(await response.arrayBuffer()))
    for (const words of [
      'Rechnungskorrektur',
      `Zur Rechnung ${invoice.number}`,
      'Steuer (19 %)',
      'Erstattet',
      '35,70 $',
      'Wie besprochen',
    ]) {
      expect(text).toContain(words)
    }
    const english = await user.downloadInvoice(invoice.id, {
      ...seller,
      locale: 'en',
      refunded: await invoice.refunded(),
    })
    const receipt = extractPdfText(new Uint8Array(await english.arrayBuffer()))
    for (const words of ['Receipt', 'Refunded', '-$35.70']) expect(receipt).toContain(words)
  })
})

it('a credit note that refunds a disputed charge is refused, like a refund of that charge', async () => {
  const test = await subscribed()
  const { user, invoice } = test
  const [charge] = test.sandbox.stripe.charges(user.providerId ?? '')
  test.sandbox.stripe.disputeCharge(String(charge?.id))
  const thrown = await invoice.creditNote({ to: 'refund' }).catch((error: unknown) => error)
  expect(thrown).toBeInstanceOf(RefundRefused)
  expect(thrown).toMatchObject({ provider: 'stripe', providerCode: 'charge_disputed' })
  expect(await countStoredOperations(test)).toBe(0)
  expect(await user.creditNotes()).toEqual([])
})

describe('a credit note at Braintree', () => {
  it('is refused with Unsupported before any request', async () => {
    const { user, settle, sandbox } = await start('braintree')
    await user.updateCard('fake-valid-visa-nonce')
    await user.charge(10)
    await settle()
    const invoice = await newest(user)
    sandbox.trouble.failNext(1, { slowMs: 0 }, 'braintree')
    await expect(invoice.creditNote({ to: 'refund' })).rejects.toThrow(Unsupported)
    expect(sandbox.trouble.takeCallTrouble('braintree')).not.toBeNull()
  })
})
