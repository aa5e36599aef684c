import { describe, expect, it } from 'vitest'
import { PROVIDERS, start } from '../../../../test/support.ts'
import { money } from '../../../index.ts'
import { INVOICE_OPTIONS, requireMailQueue, startWithMail } from './mailing.ts'

describe.each(PROVIDERS)('mail at $provider', ({ provider, card }) => {
  it('contains a receipt with the invoice for each payment, and is sent once', async () => {
    const test = await startWithMail(provider)
    const { user, sent, billing } = test
    await user.newSubscription('main', 'monthly').create(card)
    await test.settle()
    await test.settle()
    expect(sent).toHaveLength(1)
    const [receipt] = sent
    expect(receipt).toMatchObject({
      kind: 'receipt',
      to: 'ada@example.com',
      subject: 'Your receipt from Example Ltd',
      owner: { type: 'user', id: user.id },
    })
    expect(receipt?.text).toContain('Hello Ada Lovelace,')
    expect(receipt?.text).toContain('$10.00')
    const [file] = (await receipt?.attachments()) ?? []
    expect(file?.name).toBe('Gold_1_2026.pdf')
    expect(Buffer.from(file?.body.subarray(0, 5) ?? []).toString()).toBe('%PDF-')
    // No second mail for events that are processed again.
    const again = test.another()
    await again.process()
    await billing.process()
    expect(sent).toHaveLength(1)
  })

  it('is sent to the address in the user’s row, or not at all if the row has none', async () => {
    const test = await startWithMail(provider)
    const { user, database, sent } = test
    await user.updateCard(card, { email: 'other@example.com' })
    await database.kysely.updateTable('users').set({ email: null }).execute()
    await user.charge(money(500, 'usd'))
    await user.invoiceFor('A T-shirt', money(600, 'usd'))
    await test.settle()
    expect(sent).toEqual([])
    expect(await requireMailQueue(test).pending()).toEqual([])
  })

  it('announces a refund in the language of the `locale` option', async () => {
    const test = await startWithMail(provider, { only: ['refunded'] }, { locale: () => 'de-AT' })
    const { user, sent } = test
    await user.updateCard(card)
    const paid = await user.invoiceFor('Ein Hemd', money(1500, 'usd'))
    await user.refund(paid)
    await test.settle()
    expect(sent.map(({ kind }) => kind)).toEqual(['refunded'])
    expect(sent[0]?.subject).toBe('Ihre Erstattung von Example Ltd')
    expect(sent[0]?.text.replace(/\s/g, ' ')).toContain('$ 15,00')
    expect(await sent[0]?.attachments()).toEqual([])
  })
})

describe('mail to customers', () => {
  it('is written in the customer’s language at the provider', async () => {
    const test = await startWithMail('stripe')
    const { user, sent } = test
    await user.updateCard('pm_card_visa')
    await user.updateCustomer({ locale: 'he' })
    await user.invoiceFor('A T-shirt', 500)
    await test.settle()
    expect(sent[0]?.locale).toBe('he')
    expect(sent[0]?.html).toContain('<html lang="he" dir="rtl">')
  })

  it('about a failed charge contains a link to change the card', async () => {
    const link = (kind: string) => `https://app.example.com/billing?${kind}`
    const test = await startWithMail('stripe', { link })
    const { user, sent, sandbox } = test
    await user.newSubscription('main', 'monthly').create('pm_card_visa')
    await test.settle()
    sandbox.trouble.declineNextCharge(user.providerId ?? '', 'insufficient_funds')
    await test.advance({ months: 1, hours: 2 })
    const failed = sent.filter(({ kind }) => kind === 'payment_failed')
    expect(failed).toHaveLength(1)
    expect(failed[0]?.text).toMatch(/We will try again on .+ 2026/)
    expect(failed[0]?.html).toContain('href="https://app.example.com/billing?payment_failed"')
  })

  describe.each([
    { order: 'in order', reorder: false },
    { order: 'reversed', reorder: true },
  ])('about a renewal that requires authentication (webhooks $order)', ({ reorder }) => {
    async function challenged(options: Parameters<typeof startWithMail>[1] = {}) {
      const test = await startWithMail('stripe', options)
      const { user, sent, sandbox } = test
      await user.newSubscription('main', 'monthly').create('pm_card_visa')
      await user.updateCard('pm_card_authenticationRequired')
      await test.settle()
      sandbox.outbox.set({ reorder })
      sent.length = 0
      await test.advance({ months: 1, hours: 2 })
      return test
    }

    it('asks the customer once to confirm the payment', async () => {
      const { sent } = await challenged()
      expect(sent.map(({ kind }) => kind)).toEqual(['action_required'])
      expect(sent[0]?.html).toContain('href="http')
    })

    it('is sent again for each attempt that requires authentication', async () => {
      const test = await challenged()
      await test.advance({ days: 4 })
      const asked = test.sent.filter(({ kind }) => kind === 'action_required')
      expect(asked.length).toBeGreaterThan(1)
      expect(new Set(asked.map(({ id }) => id)).size).toBe(asked.length)
      expect(test.sent).toEqual(asked)
    })

    it('reports a failed payment instead if mail about confirmations is switched off', async () => {
      const { sent } = await challenged({ only: ['payment_failed'] })
      expect(sent.map(({ kind }) => kind)).toEqual(['payment_failed'])
    })

    it('reports the next attempt that fails', async () => {
      const test = await challenged()
      const { user, sent, sandbox } = test
      await user.updateCard('pm_card_visa')
      sandbox.trouble.declineNextCharge(user.providerId ?? '', 'insufficient_funds')
      await test.advance({ days: 4 })
      expect(sent.map(({ kind }) => kind)).toEqual(['action_required', 'payment_failed'])
    })
  })

  it('requires the `invoice` option and a `send` function', async () => {
    const { another } = await start('stripe')
    expect(() => another({ mail: { send: async () => undefined } })).toThrow(/mail needs invoice/)
    expect(() => another({ invoice: INVOICE_OPTIONS, mail: {} as never })).toThrow(/mail.send/)
  })
})
