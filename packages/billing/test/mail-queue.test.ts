import { describe, expect, it } from 'vitest'
import { invoice, mailing, notices } from './mailing.ts'
import { start } from './support.ts'

describe('mail that waits', () => {
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
})
