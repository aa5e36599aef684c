import { describe, expect, it } from 'vitest'
import { start } from '../../../../test/support.ts'
import { MailRejected } from '../../../index.ts'
import { INVOICE_OPTIONS, requireMailQueue, startWithMail } from './mailing.ts'

describe('queued mail', () => {
  it('is retried after a failure, and given up in the end', async () => {
    let isDown = true
    const ids: string[] = []
    const test = await startWithMail(
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
    expect(await requireMailQueue(test).pending()).toMatchObject([
      { kind: 'receipt', attempts: 1, lastError: 'Error: The mail server is away' },
    ])
    await test.advance({ minutes: 1 })
    const [dead] = await requireMailQueue(test).deadLetters()
    expect(dead).toMatchObject({ attempts: 2 })
    isDown = false
    expect(await requireMailQueue(test).retry(dead?.id ?? 0)).toBe(true)
    await billing.process()
    expect(ids).toHaveLength(3)
    expect(new Set(ids).size).toBe(1)
    expect(await requireMailQueue(test).pending()).toEqual([])
  })

  it('is given up after the first attempt if send() throws MailRejected', async () => {
    let attempts = 0
    const test = await startWithMail('stripe', {
      async send() {
        attempts++
        throw new MailRejected('550 5.1.1 There is no such address')
      },
    })
    await test.user.updateCard('pm_card_visa')
    await test.user.invoiceFor('A T-shirt', 500)
    await test.settle()
    await test.advance({ days: 2 })
    expect(attempts).toBe(1)
    const queue = requireMailQueue(test)
    expect(await queue.pending()).toEqual([])
    const [dead] = await queue.deadLetters()
    expect(dead).toMatchObject({
      attempts: 1,
      lastError: 'MailRejected: 550 5.1.1 There is no such address',
    })
    const id = dead?.id ?? 0
    expect(await queue.page('dead')).toEqual([dead])
    expect(await queue.find(id)).toEqual(dead)
    expect(await queue.retry(id)).toBe(true)
    await test.billing.process()
    expect(attempts).toBe(2)
  })

  it('is deleted by purge() once it was sent, was given up, or has an unknown outcome', async () => {
    const test = await startWithMail(
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
    expect(await billing.purge({ before: new Date('2026-01-15T00:00:00Z') })).toMatchObject({
      notices: 0,
    })
    const [{ id } = { id: 0 }] = await requireMailQueue(test).deadLetters()
    const other = test.another()
    expect(await other.purge({ before: test.sandbox.clock.now() })).toMatchObject({ notices: 2 })
    expect(await states()).toEqual([])
    expect(await requireMailQueue(test).retry(id)).toBe(false)
    await buy(await test.createUser())
    await test.settle()
    await database.kysely.updateTable('billing_notices').set({ state: 'sending' }).execute()
    await test.advance({ days: 2 })
    expect(await billing.purge({ before: test.sandbox.clock.now() })).toMatchObject({ notices: 1 })
  })

  it('is not sent again if the process crashed while sending it', async () => {
    let handedOver: () => void = () => undefined
    const isHandedOver = new Promise<void>((resolve) => {
      handedOver = resolve
    })
    let release: (value: unknown) => void = () => undefined
    const sent: string[] = []
    const test = await start('stripe', { invoice: INVOICE_OPTIONS, processEvery: false })
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
    void dying.process()
    await isHandedOver
    const living = test.another({ mail: { send: async ({ kind }) => sent.push(kind) } })
    await test.sandbox.clock.advance({ days: 1 })
    await living.process()
    expect(sent).toEqual([])
    const [unknown] = (await living.notices?.unknown()) ?? []
    expect(unknown).toMatchObject({ kind: 'receipt', state: 'sending' })
    expect(await living.notices?.retry(unknown?.id ?? 0)).toBe(true)
    await living.process()
    expect(sent).toEqual(['receipt'])
    release(null)
  })
})
