import type Stripe from 'stripe'
import { expect } from 'vitest'
import { isBillingError, PaymentActionRequired } from '../../../src/index.ts'
import { stripeSdk, takenFrom } from '../../support.ts'
import { taxByName } from '../jobs.ts'
import { type Asking, main, ofSubscription, ofUser, type Story, subscribe } from '../story.ts'

const VAT = ['eu_vat', 'DE123456789'] as const

/** The tax id of each user. */
const ids = new Map<string | number, string>()

/** By what the application's row says, here and in other processes. */
const options: Story['options'] = {
  here: { taxPercentage: (({ name }: { name: string }) => taxByName(name)) as never },
  there: { taxesByName: true },
}

const rename = ({ test, user }: Asking, percentage: number) =>
  test.database.kysely
    .updateTable('users')
    .set({ name: `Taxed ${percentage}` })
    .where('id', '=', user.id)
    .execute()

/** Each has another one, whose rate Stripe has not yet. */
const percentageOf = ({ user }: Asking) => 1 + (Number(user.id) % 90)

/** There is one rate for all: nobody makes it on the way. */
const makeRate: Story['prepare'] = async (test) => {
  const stripe = await stripeSdk(test)
  const metadata = { tollgate: 'tax' }
  await stripe.taxRates.create({ display_name: 'Tax', percentage: 20, inclusive: false, metadata })
}

const AFTER = (cents: number) => (cents * 120) / 100

/** A swap that the bank asks about, and whose tax, which Stripe holds back for nobody, is another one by now. */
const held = {
  providers: ['stripe'],
  options,
  prepare: makeRate,
  async before(asking: Asking) {
    await subscribe(asking)
    await asking.user.updateCard('pm_card_authenticationRequired')
    await rename(asking, 20)
  },
  job: { ...ofSubscription('swap', 'yearly'), job: 'askBank' },
} satisfies Partial<Story>

/** What a swap may have left at Stripe. */
async function leftAt(asking: Asking) {
  const found = (await (await main(asking)).asProvider()) as Stripe.Subscription
  const marks = Object.keys(found.metadata).filter((key) => key.startsWith('tollgate_held_tax'))
  return { marks, rates: found.default_tax_rates?.map(({ percentage }) => percentage) }
}

/** What is held lapses: of this one alone, because the clock is everybody's. */
async function lapse(asking: Asking): Promise<void> {
  const found = (await (await main(asking)).asProvider()) as Stripe.Subscription
  if (!found.pending_update) return
  const stripe = await stripeSdk(asking.test)
  await stripe.invoices.voidInvoice(String(found.latest_invoice))
}

async function nothingLeft(asking: Asking, at: string): Promise<void> {
  expect((await main(asking)).providerPlan, at).toBe('monthly')
  expect(takenFrom(asking.test, asking.user), at).toBe(1000)
  expect(await leftAt(asking), at).toEqual({ marks: [], rates: [] })
}

export const taxes: readonly Story[] = [
  {
    ...held,
    name: 'a swap that the bank asks about, and that is confirmed',
    async again(asking) {
      const asked = await (await main(asking)).swap('yearly').catch((error: unknown) => error)
      if (!isBillingError(asked, 'payment_action_required')) throw asked
      asking.test.sandbox.stripe.completeAuthentication(asked.payment.id)
      await asking.user.sync()
    },
    async outcome(asking, at) {
      expect((await main(asking)).providerPlan, at).toBe('yearly')
      expect(takenFrom(asking.test, asking.user), at).toBe(1000 + AFTER(10_000) - AFTER(1000))
      expect(await leftAt(asking), at).toEqual({ marks: [], rates: [20] })
    },
  },
  {
    ...held,
    name: 'a swap that the bank asks about, and that is given up',
    again: async (asking) => (await main(asking)).swap('monthly'),
    outcome: nothingLeft,
  },
  {
    ...held,
    name: 'a swap that the bank asks about, and that lapses',
    async again(asking) {
      await lapse(asking)
      await asking.user.sync()
    },
    outcome: nothingLeft,
  },
  {
    ...held,
    name: 'putting back what a swap that lapsed has left',
    async before(asking) {
      await held.before(asking)
      const user = await asking.test.billing.user(asking.user.id)
      await expect((await main({ user })).swap('yearly')).rejects.toThrow(PaymentActionRequired)
      expect((await leftAt(asking)).rates).toEqual([20])
      await lapse(asking)
    },
    job: ofUser('sync'),
    outcome: nothingLeft,
  },
  {
    name: 'a tax id',
    providers: ['stripe'],
    before: subscribe,
    job: ofUser('createTaxId', ...VAT),
    async outcome({ user }, at) {
      expect(await user.taxIds(), at).toMatchObject([{ value: VAT[1], country: 'DE' }])
    },
  },
  {
    name: 'deleteTaxId',
    providers: ['stripe'],
    async before({ user }) {
      ids.set(user.id, (await user.createTaxId(...VAT)).id)
    },
    job: ({ user }) => ofUser('deleteTaxId', ids.get(user.id)),
    async outcome({ user }, at) {
      expect(await user.taxIds(), at).toEqual([])
    },
  },
  {
    name: 'setTaxExempt of nobody yet',
    providers: ['stripe'],
    job: ofUser('setTaxExempt', 'reverse'),
    async outcome({ user }, at) {
      expect(await user.taxExempt(), at).toBe('reverse')
    },
  },
  {
    name: 'syncTaxPercentage',
    options,
    async before(asking) {
      await subscribe(asking)
      await rename(asking, percentageOf(asking))
    },
    job: ofSubscription('syncTaxPercentage'),
    async outcome(asking, at) {
      const { test, user } = asking
      expect(takenFrom(test, user), at).toBe(1000)
      const next = await user.upcomingInvoice('main')
      expect(next?.total.amount, at).toBe(1000 + 10 * percentageOf(asking))
    },
  },
]
