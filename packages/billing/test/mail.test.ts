import { describe, expect, it } from 'vitest'
import type { MailMessage, MailOptions } from '../src/index.ts'
import { money } from '../src/index.ts'
import { type FlowTest, PROVIDERS, start } from './support.ts'

const invoice = { vendor: 'Example Ltd', product: 'Gold' }

async function mailing(
  provider: 'stripe' | 'braintree',
  more: Partial<MailOptions> = {},
  options: Parameters<typeof start>[1] = {},
) {
  const sent: MailMessage[] = []
  const mail: MailOptions = { send: async (message) => sent.push(message), ...more }
  const test = await start(provider, { mail, invoice, ...options })
  return { ...test, sent }
}

const notices = ({ billing }: FlowTest) => {
  if (!billing.notices) throw new Error('There is no mail')
  return billing.notices
}

describe.each(PROVIDERS)('mail at $provider', ({ provider, card }) => {
  it('is a receipt for each payment, with the invoice, once', async () => {
    const test = await mailing(provider)
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
    // Told again, by whatever way: no second mail.
    const again = test.another()
    await again.events.process()
    await billing.events.process()
    expect(sent).toHaveLength(1)
  })

  it('goes to the address in the row, and to nobody who has none', async () => {
    const test = await mailing(provider)
    const { user, database, sent } = test
    await user.updateCard(card, { email: 'other@example.com' })
    await database.kysely.updateTable('users').set({ email: null }).execute()
    await user.charge(money(500, 'usd'))
    await user.invoiceFor('A T-shirt', money(600, 'usd'))
    await test.settle()
    expect(sent).toEqual([])
    expect(await notices(test).pending()).toEqual([])
  })

  it('tells of money that went back, in the language that the application says', async () => {
    const test = await mailing(provider, { only: ['refunded'] }, { locale: () => 'de-AT' })
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

describe('mail', () => {
  it('is tried again when it could not be sent, and given up in the end', async () => {
    let isDown = true
    const ids: string[] = []
    const test = await mailing(
      'stripe',
      {
        async send({ id }) {
          ids.push(id)
          if (isDown) throw new Error('The mail server is away')
        },
      },
      { webhookAttempts: 2 },
    )
    const { user, billing } = test
    await user.updateCard('pm_card_visa')
    await user.invoiceFor('A T-shirt', 500)
    await test.settle()
    expect(await notices(test).pending()).toMatchObject([
      { kind: 'receipt', attempts: 1, lastError: 'Error: The mail server is away' },
    ])
    await test.advance({ minutes: 1 })
    const [dead] = await notices(test).deadLetters()
    expect(dead).toMatchObject({ attempts: 2 })
    isDown = false
    expect(await notices(test).retry(dead?.id ?? 0)).toBe(true)
    await billing.events.process()
    expect(ids).toHaveLength(3)
    expect(new Set(ids).size).toBe(1)
    expect(await notices(test).pending()).toEqual([])
  })

  it('is deleted when it has gone out, was given up, or nobody knows', async () => {
    const test = await mailing(
      'stripe',
      {
        async send({ text }) {
          if (text.includes('Eve')) throw new Error('No such address')
        },
      },
      { webhookAttempts: 1 },
    )
    const { user, billing, database } = test
    const buy = async (payer: typeof user) => {
      await payer.updateCard('pm_card_visa')
      await payer.invoiceFor('A T-shirt', 500)
    }
    await buy(user)
    await buy(await test.createUser({ name: 'Eve', email: 'eve@example.com' }))
    await test.settle()
    await test.advance({ days: 2 })
    const states = async () => {
      const rows = await database.kysely.selectFrom('billing_notices').select('state').execute()
      return rows.map(({ state }) => state).sort()
    }
    expect(await states()).toEqual(['dead', 'done'])
    expect(await billing.purgeNotices(new Date('2026-01-15T00:00:00Z'))).toBe(0)
    const [{ id } = { id: 0 }] = await notices(test).deadLetters()
    const other = test.another()
    expect(await other.purgeNotices(test.sandbox.clock.now())).toBe(2)
    expect(await states()).toEqual([])
    expect(await notices(test).retry(id)).toBe(false)
    await buy(await test.createUser())
    await test.settle()
    await database.kysely.updateTable('billing_notices').set({ state: 'sending' }).execute()
    await test.advance({ days: 2 })
    expect(await billing.purgeNotices(test.sandbox.clock.now())).toBe(1)
  })

  it('is not sent again after a process that died while it sent', async () => {
    let handedOver: () => void = () => undefined
    const isHandedOver = new Promise<void>((resolve) => {
      handedOver = resolve
    })
    let release: (value: unknown) => void = () => undefined
    const sent: string[] = []
    const test = await start('stripe', { invoice, processEvery: false })
    const { user } = test
    const dying = test.another({
      mail: {
        send() {
          handedOver()
          return new Promise((resolve) => {
            release = resolve
          })
        },
      },
    })
    const dead = await dying.user(user.id)
    await dead.updateCard('pm_card_visa')
    await dead.invoiceFor('A T-shirt', 500)
    void dying.events.process()
    await isHandedOver
    const living = test.another({ mail: { send: async ({ kind }) => sent.push(kind) } })
    await test.sandbox.clock.advance({ days: 1 })
    await living.events.process()
    expect(sent).toEqual([])
    const [unknown] = (await living.notices?.unknown()) ?? []
    expect(unknown).toMatchObject({ kind: 'receipt', state: 'sending' })
    expect(await living.notices?.retry(unknown?.id ?? 0)).toBe(true)
    await living.events.process()
    expect(sent).toEqual(['receipt'])
    release(null)
  })

  it('is in the language that the customer has at the provider', async () => {
    const test = await mailing('stripe')
    const { user, sent } = test
    await user.updateCard('pm_card_visa')
    await user.updateCustomer({ locale: 'he' })
    await user.invoiceFor('A T-shirt', 500)
    await test.settle()
    expect(sent[0]?.locale).toBe('he')
    expect(sent[0]?.html).toContain('<html lang="he" dir="rtl">')
  })

  it('tells of a charge that failed, and where to mend it', async () => {
    const link = (kind: string) => `https://app.example.com/billing?${kind}`
    const test = await mailing('stripe', { link })
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
    { order: 'as they happened', reorder: false },
    { order: 'the failure first', reorder: true },
  ])('of a renewal that the bank asks about, with the events $order', ({ reorder }) => {
    async function challenged(options: Parameters<typeof mailing>[1] = {}) {
      const test = await mailing('stripe', options)
      const { user, sent, sandbox } = test
      await user.newSubscription('main', 'monthly').create('pm_card_visa')
      await user.updateCard('pm_card_authenticationRequired')
      await test.settle()
      sandbox.outbox.set({ reorder })
      sent.length = 0
      await test.advance({ months: 1, hours: 2 })
      return test
    }

    it('is one: please confirm', async () => {
      const { sent } = await challenged()
      expect(sent.map(({ kind }) => kind)).toEqual(['action_required'])
      expect(sent[0]?.html).toContain('href="http')
    })

    it('comes again with each attempt that asks again, for whoever missed it', async () => {
      const test = await challenged()
      await test.advance({ days: 4 })
      const asked = test.sent.filter(({ kind }) => kind === 'action_required')
      expect(asked.length).toBeGreaterThan(1)
      expect(new Set(asked.map(({ id }) => id)).size).toBe(asked.length)
      expect(test.sent).toEqual(asked)
    })

    it('is the failure for whom nobody asks to confirm by mail', async () => {
      const { sent } = await challenged({ only: ['payment_failed'] })
      expect(sent.map(({ kind }) => kind)).toEqual(['payment_failed'])
    })

    it('tells of the next attempt that fails', async () => {
      const test = await challenged()
      const { user, sent, sandbox } = test
      await user.updateCard('pm_card_visa')
      sandbox.trouble.declineNextCharge(user.providerId ?? '', 'insufficient_funds')
      await test.advance({ days: 4 })
      expect(sent.map(({ kind }) => kind)).toEqual(['action_required', 'payment_failed'])
    })
  })

  it('needs to know who writes', async () => {
    const { another } = await start('stripe')
    expect(() => another({ mail: { send: async () => undefined } })).toThrow(/mail needs invoice/)
    expect(() => another({ invoice, mail: {} as never })).toThrow(/mail.send/)
  })
})
