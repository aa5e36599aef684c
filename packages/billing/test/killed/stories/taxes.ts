import type Stripe from 'stripe'
import { expect } from 'vitest'
import { isBillingError, PaymentActionRequired } from '../../../src/index.ts'
import { stripeSdk, sumChargedCents } from '../../support.ts'
import { taxByName } from '../jobs.ts'
import {
  findMainSubscription,
  type Story,
  type StoryRun,
  subscribe,
  subscriptionJob,
  userJob,
} from '../story.ts'

const VAT = ['eu_vat', 'DE123456789'] as const

/** The tax id of each user. */
const ids = new Map<string | number, string>()

/** The tax percentage comes from the application's row, here and in other processes. */
const options: Story['options'] = {
  here: { taxPercentage: (({ name }: { name: string }) => taxByName(name)) as never },
  there: { taxesByName: true },
}

const rename = ({ test, user }: StoryRun, percentage: number) =>
  test.database.kysely
    .updateTable('users')
    .set({ name: `Taxed ${percentage}` })
    .where('id', '=', user.id)
    .execute()

/** A different percentage for each user, so that its tax rate does not exist at Stripe yet. */
const percentageOf = ({ user }: StoryRun) => 1 + (Number(user.id) % 90)

/** Creates the tax rate in advance, shared by all users, so that no run creates it. */
const makeRate: Story['prepare'] = async (test) => {
  const stripe = await stripeSdk(test)
  const metadata = { tollgate: 'tax' }
  await stripe.taxRates.create({ display_name: 'Tax', percentage: 20, inclusive: false, metadata })
}

const addTwentyPercentTax = (cents: number) => (cents * 120) / 100

/**
 * A swap that the customer must confirm, after the tax has changed. Stripe applies tax changes
 * without waiting for the confirmation.
 */
const unconfirmedSwap = {
  providers: ['stripe'],
  options,
  prepare: makeRate,
  async before(run: StoryRun) {
    await subscribe(run)
    await run.user.updateCard('pm_card_authenticationRequired')
    await rename(run, 20)
  },
  job: { ...subscriptionJob('swap', 'yearly'), job: 'askBank' },
} satisfies Partial<Story>

/** Reads what a swap may have left at Stripe. */
async function readLeftovers(run: StoryRun) {
  const found = (await (await findMainSubscription(run)).asProvider()) as Stripe.Subscription
  const marks = Object.keys(found.metadata).filter((key) => key.startsWith('tollgate_held_tax'))
  return { marks, rates: found.default_tax_rates?.map(({ percentage }) => percentage) }
}

/** Lets this user's swap that awaits payment expire, without advancing the shared clock. */
async function expirePendingSwap(run: StoryRun): Promise<void> {
  const found = (await (await findMainSubscription(run)).asProvider()) as Stripe.Subscription
  if (!found.pending_update) return
  const stripe = await stripeSdk(run.test)
  await stripe.invoices.voidInvoice(String(found.latest_invoice))
}

async function expectNoLeftovers(run: StoryRun, at: string): Promise<void> {
  expect((await findMainSubscription(run)).providerPlan, at).toBe('monthly')
  expect(sumChargedCents(run.test, run.user), at).toBe(1000)
  expect(await readLeftovers(run), at).toEqual({ marks: [], rates: [] })
}

export const taxes: readonly Story[] = [
  {
    ...unconfirmedSwap,
    name: 'a swap whose payment the customer confirms',
    async again(run) {
      const asked = await (await findMainSubscription(run))
        .swap('yearly')
        .catch((error: unknown) => error)
      if (!isBillingError(asked, 'payment_action_required')) throw asked
      run.test.sandbox.stripe.completeAuthentication(asked.payment.id)
      await run.user.sync()
    },
    async outcome(run, at) {
      expect((await findMainSubscription(run)).providerPlan, at).toBe('yearly')
      expect(sumChargedCents(run.test, run.user), at).toBe(
        1000 + addTwentyPercentTax(10_000) - addTwentyPercentTax(1000),
      )
      expect(await readLeftovers(run), at).toEqual({ marks: [], rates: [20] })
    },
  },
  {
    ...unconfirmedSwap,
    name: 'a swap that is swapped back while it awaits payment',
    again: async (run) => (await findMainSubscription(run)).swap('monthly'),
    outcome: expectNoLeftovers,
  },
  {
    ...unconfirmedSwap,
    name: 'a swap whose payment is never confirmed',
    async again(run) {
      await expirePendingSwap(run)
      await run.user.sync()
    },
    outcome: expectNoLeftovers,
  },
  {
    ...unconfirmedSwap,
    name: 'sync after the payment of a swap was never confirmed',
    async before(run) {
      await unconfirmedSwap.before(run)
      const user = await run.test.billing.user(run.user.id)
      await expect((await findMainSubscription({ user })).swap('yearly')).rejects.toThrow(
        PaymentActionRequired,
      )
      expect((await readLeftovers(run)).rates).toEqual([20])
      await expirePendingSwap(run)
    },
    job: userJob('sync'),
    outcome: expectNoLeftovers,
  },
  {
    name: 'createTaxId',
    providers: ['stripe'],
    before: subscribe,
    job: userJob('createTaxId', ...VAT),
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
    job: ({ user }) => userJob('deleteTaxId', ids.get(user.id)),
    async outcome({ user }, at) {
      expect(await user.taxIds(), at).toEqual([])
    },
  },
  {
    name: 'setTaxExempt before there is a customer',
    providers: ['stripe'],
    job: userJob('setTaxExempt', 'reverse'),
    async outcome({ user }, at) {
      expect(await user.taxExempt(), at).toBe('reverse')
    },
  },
  {
    name: 'syncTaxPercentage',
    options,
    async before(run) {
      await subscribe(run)
      await rename(run, percentageOf(run))
    },
    job: subscriptionJob('syncTaxPercentage'),
    async outcome(run, at) {
      const { test, user } = run
      expect(sumChargedCents(test, user), at).toBe(1000)
      const next = await user.upcomingInvoice('main')
      expect(next?.total.amount, at).toBe(1000 + 10 * percentageOf(run))
    },
  },
]
