import { describe, expect, it } from 'vitest'
import { createImpatientBilling, LOSSES, loseResponse } from '../../../../test/lost-answers.ts'
import {
  type FlowTest,
  PROVIDERS,
  type ProviderCase,
  start,
  stripeSdk,
} from '../../../../test/support.ts'
import {
  AmountTooLarge,
  AuthorizationNotOpen,
  type BillableUser,
  ChargeNotFound,
  InvalidAmount,
  money,
  ProviderRejected,
  ProviderUnavailable,
} from '../../../index.ts'

/** Cents captured from this user's card. */
export function sumCapturedCents(
  { sandbox }: FlowTest,
  { provider, providerId }: BillableUser,
): number {
  const id = providerId ?? ''
  if (provider === 'stripe') {
    return sandbox.stripe.charges(id).reduce((sum, each) => sum + Number(each.amount_captured), 0)
  }
  return sandbox.braintree
    .transactions(id)
    .filter(({ status }) => ['submitted_for_settlement', 'settling', 'settled'].includes(status))
    .reduce((sum, { amount }) => sum + amount, 0)
}

async function authorizeCharge(
  { user }: Pick<FlowTest, 'user'>,
  { card }: ProviderCase,
): Promise<string> {
  await user.updateCard(card)
  const made = await user.charge(money(1000, 'usd'), { captureLater: true })
  return (made as { id: string }).id
}

async function countStoredOperations({ database }: FlowTest): Promise<number> {
  return (await database.kysely.selectFrom('billing_operations').select('id').execute()).length
}

const thrownBy = (asked: Promise<unknown>) => asked.catch((error: unknown) => error)

describe.each(PROVIDERS)('an authorized charge at $provider', (given) => {
  const { provider, card } = given

  it('reserves the amount, and charges it on capture()', async () => {
    const test = await start(provider)
    const { user } = test
    const id = await authorizeCharge(test, given)
    expect(sumCapturedCents(test, user)).toBe(0)
    const found = await user.findAuthorization({ id })
    expect(found).toMatchObject({ id, status: 'authorized', captured: money(0, 'usd') })
    expect(found?.expiresAt).toEqual(new Date('2026-01-22T10:00:00Z'))
    const made = await user.capture(id)
    expect(made).toMatchObject({ id, status: 'captured', captured: money(1000, 'usd') })
    expect(sumCapturedCents(test, user)).toBe(1000)
    expect(await countStoredOperations(test)).toBe(0)
  })

  it('can be captured in part, but only once: repeating the capture changes nothing, and another amount is refused', async () => {
    const test = await start(provider)
    const { user } = test
    const id = await authorizeCharge(test, given)
    const part = { amount: money(400, 'usd') }
    const both = await Promise.all([user.capture(id, part), user.capture(id, part)])
    expect(both.map(({ captured }) => captured)).toEqual([part.amount, part.amount])
    expect((await user.capture(id, part)).authorized).toEqual(money(1000, 'usd'))
    for (const other of [{}, { amount: money(600, 'usd') }]) {
      const error = await thrownBy(user.capture(id, other))
      expect(error).toBeInstanceOf(AuthorizationNotOpen)
      expect(error).toMatchObject({
        reason: 'captured',
        message: 'The authorization was captured already, with $4.00',
      })
    }
    expect(sumCapturedCents(test, user)).toBe(400)
    expect(await countStoredOperations(test)).toBe(0)
  })

  it('is captured only once by two concurrent captures of different amounts', async () => {
    const test = await start(provider)
    const { user } = test
    const id = await authorizeCharge(test, given)
    const asked = [300, 700].map((cents) => user.capture(id, { amount: money(cents, 'usd') }))
    const outcomes = await Promise.allSettled(asked)
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect([300, 700]).toContain(sumCapturedCents(test, user))
    expect(await countStoredOperations(test)).toBe(0)
  })

  it('can be released, and cannot be captured afterwards', async () => {
    const test = await start(provider)
    const { user } = test
    const id = await authorizeCharge(test, given)
    expect(await user.releaseAuthorization(id)).toMatchObject({ status: 'released' })
    expect(await user.releaseAuthorization({ id })).toMatchObject({ status: 'released' })
    await expect(user.capture(id)).rejects.toMatchObject({
      code: 'authorization_not_open',
      reason: 'released',
    })
    expect(sumCapturedCents(test, user)).toBe(0)
    expect(await countStoredOperations(test)).toBe(0)
  })

  it('cannot be released after it was captured', async () => {
    const test = await start(provider)
    const id = await authorizeCharge(test, given)
    await test.user.capture(id)
    await expect(test.user.releaseAuthorization(id)).rejects.toMatchObject({ reason: 'captured' })
    expect(sumCapturedCents(test, test.user)).toBe(1000)
  })

  it('expires after a week without a capture', async () => {
    const test = await start(provider)
    const { user, sandbox } = test
    const id = await authorizeCharge(test, given)
    await sandbox.clock.advance({ days: 7, hours: 1 })
    expect(await user.findAuthorization(id)).toMatchObject({ status: 'expired', expiresAt: null })
    await expect(user.capture(id)).rejects.toMatchObject({ reason: 'expired' })
    expect(await user.releaseAuthorization(id)).toMatchObject({ status: 'expired' })
    expect(sumCapturedCents(test, user)).toBe(0)
  })

  it('cannot be found, captured or released by another user (threat M1)', async () => {
    const test = await start(provider)
    const id = await authorizeCharge(test, given)
    const eve = await test.createUser({ email: 'eve@example.com' })
    expect(await eve.findAuthorization(id)).toBeNull()
    await eve.updateCard(given.otherCard)
    expect(await eve.findAuthorization(id)).toBeNull()
    for (const charge of [id, 'none-of-ours', 'pi_none']) {
      const messages = await Promise.all(
        [eve.capture(charge), eve.releaseAuthorization(charge)].map(thrownBy),
      )
      for (const error of messages) {
        expect(error).toBeInstanceOf(ChargeNotFound)
        expect(error).toMatchObject({ message: 'There is no such authorization' })
      }
    }
    expect(await test.user.findAuthorization(id)).toMatchObject({ status: 'authorized' })
  })

  it('rejects the capture of a higher amount or another currency before any request to the provider', async () => {
    const test = await start(provider)
    const id = await authorizeCharge(test, given)
    const capture = (cents: number, currency: string) =>
      test.user.capture(id, { amount: money(cents, currency) })
    await expect(capture(1001, 'usd')).rejects.toThrow(AmountTooLarge)
    await expect(capture(500, 'eur')).rejects.toThrow(InvalidAmount)
    await expect(capture(0, 'usd')).rejects.toThrow(InvalidAmount)
    expect(await test.user.findAuthorization(id)).toMatchObject({ status: 'authorized' })
  })

  it('cannot share an idempotency key with a charge that is captured immediately', async () => {
    const { user } = await start(provider)
    await user.updateCard(card)
    const key = { idempotencyKey: 'order-1' }
    await user.charge(money(1000, 'usd'), { ...key, captureLater: true })
    await expect(user.charge(money(1000, 'usd'), key)).rejects.toThrow(ProviderRejected)
  })

  it.each(LOSSES)(
    'is captured once when a response is lost and the call is repeated (kind of failure: %s)',
    async (how) => {
      const test = await start(provider)
      const id = await authorizeCharge(test, given)
      const user = await createImpatientBilling(test).user(test.user.id)
      // The authorization is read first, and at Braintree once more before the change.
      loseResponse(test, provider, { after: provider === 'stripe' ? 1 : 2, how })
      const part = { amount: money(400, 'usd') }
      const lost = await thrownBy(user.capture(id, part))
      if (provider === 'braintree') expect(lost).toBeInstanceOf(ProviderUnavailable)
      expect(await user.capture(id, part)).toMatchObject({ captured: part.amount })
      expect(sumCapturedCents(test, user)).toBe(400)
      expect(await countStoredOperations(test)).toBe(0)
    },
  )
})

describe('an authorized charge', () => {
  it('emits invoice.paid at Braintree when it is captured, and not earlier', async () => {
    const emitted: string[] = []
    const on = {
      'invoice.paid': ({ data }: { data: { invoice: { id: string } } }) =>
        void emitted.push(data.invoice.id),
    }
    const test = await start('braintree', { on })
    const [, braintree] = PROVIDERS
    const id = await authorizeCharge(test, braintree as ProviderCase)
    await test.settle()
    expect(emitted).toEqual([])
    await test.user.capture(id)
    await test.user.capture(id)
    await test.settle()
    expect(emitted).toEqual([id])
  })

  it('is pending at Stripe until the customer has authenticated', async () => {
    const test = await start('stripe')
    const { user } = test
    await user.updateCard('pm_card_authenticationRequired')
    const error = await thrownBy(user.charge(1000, { captureLater: true }))
    const { payment } = error as { payment: { id: string } }
    expect(await user.findAuthorization(payment)).toMatchObject({ status: 'pending' })
    await expect(user.capture(payment)).rejects.toMatchObject({ reason: 'pending' })
    expect(await user.releaseAuthorization(payment)).toMatchObject({ status: 'released' })
  })

  it('is not mistaken at Stripe for a charge that was captured immediately: capture() then throws ChargeNotFound', async () => {
    const test = await start('stripe')
    const { user } = test
    await user.updateCard('pm_card_visa')
    const { id } = (await user.charge(1000)) as { id: string }
    await expect(user.capture(id)).rejects.toThrow(ChargeNotFound)
  })

  it("is shown as captured after a capture in Stripe's dashboard", async () => {
    const test = await start('stripe')
    const [stripe] = PROVIDERS
    const id = await authorizeCharge(test, stripe as ProviderCase)
    const { paymentIntents } = await stripeSdk(test)
    await paymentIntents.capture(id, { amount_to_capture: 250 })
    await expect(test.user.capture(id)).rejects.toMatchObject({ reason: 'captured' })
    expect(sumCapturedCents(test, test.user)).toBe(250)
  })
})
