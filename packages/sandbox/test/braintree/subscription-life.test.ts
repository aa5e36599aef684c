import type braintree from 'braintree'
import { describe, expect, it } from 'vitest'
import { addCustomer, listen, startMerchant } from './support.ts'

interface Step {
  readonly to: string
  readonly status: string
  readonly cycle: number
  readonly balance: string
  readonly failures: number
  readonly period: readonly [string | null, string | null]
  readonly paidThrough: string | null
  readonly next: string
  /** Amount and status of the newest transaction, `null` if this step made none. */
  readonly charged: readonly [string, string] | null
  readonly kinds: readonly string[]
}

const OK = ['subscription_charged_successfully'] as const
const FAILED = 'subscription_charged_unsuccessfully'

function renewal(cycle: number, start: string, end: string, next: string): Step {
  return {
    to: `${start}T00:00:00Z`,
    status: 'Active',
    cycle,
    balance: '0.00',
    failures: 0,
    period: [start, end],
    paidThrough: end,
    next,
    charged: ['10.00', 'submitted_for_settlement'],
    kinds: OK,
  }
}

/** A trial from 17 January and thirteen cycles from the 31st, then declined charges. */
const LIFE: readonly Step[] = [
  {
    to: '2026-01-30T23:59:59Z',
    status: 'Active',
    cycle: 0,
    balance: '0.00',
    failures: 0,
    period: [null, null],
    paidThrough: null,
    next: '2026-01-31',
    charged: null,
    kinds: [],
  },
  {
    ...renewal(1, '2026-01-31', '2026-02-27', '2026-02-28'),
    kinds: ['subscription_trial_ended', ...OK],
  },
  renewal(2, '2026-02-28', '2026-03-30', '2026-03-31'),
  renewal(3, '2026-03-31', '2026-04-29', '2026-04-30'),
  renewal(4, '2026-04-30', '2026-05-30', '2026-05-31'),
  renewal(5, '2026-05-31', '2026-06-29', '2026-06-30'),
  renewal(6, '2026-06-30', '2026-07-30', '2026-07-31'),
  renewal(7, '2026-07-31', '2026-08-30', '2026-08-31'),
  renewal(8, '2026-08-31', '2026-09-29', '2026-09-30'),
  renewal(9, '2026-09-30', '2026-10-30', '2026-10-31'),
  renewal(10, '2026-10-31', '2026-11-29', '2026-11-30'),
  renewal(11, '2026-11-30', '2026-12-30', '2026-12-31'),
  renewal(12, '2026-12-31', '2027-01-30', '2027-01-31'),
  renewal(13, '2027-01-31', '2027-02-27', '2027-02-28'),
]

function pastDue(to: string, failures: number, kinds: readonly string[]): Step {
  return {
    to,
    status: 'Past Due',
    cycle: 14,
    balance: '10.00',
    failures,
    period: ['2027-02-28', '2027-03-30'],
    paidThrough: '2027-02-27',
    next: '2027-03-31',
    charged: kinds.length > 0 ? ['10.00', 'processor_declined'] : null,
    kinds,
  }
}

const DECLINE: readonly Step[] = [
  pastDue('2027-02-28T00:00:00Z', 1, [FAILED, 'subscription_went_past_due']),
  pastDue('2027-03-02T23:59:59Z', 1, []),
  pastDue('2027-03-03T00:00:00Z', 2, [FAILED]),
  pastDue('2027-03-07T23:59:59Z', 2, []),
  {
    ...pastDue('2027-03-08T00:00:00Z', 3, [FAILED, 'subscription_canceled']),
    status: 'Canceled',
  },
]

describe('the life of a Braintree subscription', () => {
  it('goes from a trial through a year of renewals to retried charges and the cancellation', async () => {
    const merchant = await startMerchant({ now: '2026-01-17T08:30:00Z' })
    const { gateway, clock, sandbox, outbox } = merchant
    const { token, customerId } = await addCustomer(merchant)
    const { url, received } = await listen(merchant)
    sandbox.registerWebhook(url)
    await gateway.subscription.create({ id: 'life', planId: 'trial', paymentMethodToken: token })

    const play = async (step: Step) => {
      const before = received.length
      const charges = sandbox.transactions(customerId).length
      await clock.advanceTo(new Date(step.to))
      await outbox.flush()
      const found = await gateway.subscription.find('life')
      expect(found, step.to).toMatchObject({
        status: step.status,
        currentBillingCycle: step.cycle,
        balance: step.balance,
        failureCount: step.failures,
        billingPeriodStartDate: step.period[0],
        billingPeriodEndDate: step.period[1],
        paidThroughDate: step.paidThrough,
        nextBillingDate: step.next,
        nextBillingPeriodAmount: '10.00',
        billingDayOfMonth: 31,
        trialPeriod: true,
        trialDuration: 14,
        trialDurationUnit: 'day',
        firstBillingDate: '2026-01-31',
      })
      const made = sandbox.transactions(customerId).length - charges
      expect(made, step.to).toBe(step.charged ? 1 : 0)
      if (step.charged) {
        expect(found.transactions?.[0], step.to).toMatchObject({
          amount: step.charged[0],
          status: step.charged[1],
          createdAt: step.to,
        })
      }
      const sent = received.slice(before)
      expect(
        sent.map(({ kind }) => kind),
        step.to,
      ).toEqual(step.kinds)
      for (const { timestamp, notification } of sent) {
        expect(timestamp).toBe(step.to)
        const { subscription } = notification as braintree.SubscriptionNotification
        expect(subscription).toMatchObject({ id: 'life', balance: step.balance })
      }
    }
    for (const step of LIFE) await play(step)
    sandbox.failCharges(token, '2001')
    for (const step of DECLINE) await play(step)

    await clock.advance({ years: 1 })
    expect(sandbox.subscription('life')).toMatchObject({
      status: 'Canceled',
      currentBillingCycle: 14,
    })
    const settled = sandbox.transactions(customerId).filter((row) => row.status === 'settled')
    expect(settled).toHaveLength(13)
    expect(settled.reduce((sum, row) => sum + row.amount, 0)).toBe(13_000)
    expect(outbox.deliveries({ provider: 'braintree' }).every((d) => d.state === 'delivered')).toBe(
      true,
    )
  })

  it('becomes active again when a retry succeeds in charging the balance', async () => {
    const merchant = await startMerchant()
    const { gateway, clock, sandbox, outbox, trouble } = merchant
    const { token, customerId } = await addCustomer(merchant)
    const { url, received } = await listen(merchant)
    await gateway.subscription.create({ id: 's', planId: 'monthly', paymentMethodToken: token })
    sandbox.registerWebhook(url)
    trouble.declineNextCharge(customerId, '2001')
    await clock.advanceTo(new Date('2026-02-18T12:00:00Z'))
    await outbox.flush()
    expect(received.map(({ kind }) => kind)).toEqual([
      'subscription_charged_unsuccessfully',
      'subscription_went_past_due',
      'subscription_charged_successfully',
      'subscription_went_active',
    ])
    expect(await gateway.subscription.find('s')).toMatchObject({
      status: 'Active',
      balance: '0.00',
      failureCount: 0,
      paidThroughDate: '2026-03-14',
      nextBillingDate: '2026-03-15',
    })
  })

  it('continues past due after the last retry, with a growing balance, if the `afterRetries` setting says so', async () => {
    const merchant = await startMerchant()
    const { gateway, clock, sandbox } = merchant
    const { token } = await addCustomer(merchant)
    sandbox.changeSettings({ afterRetries: 'keep-past-due', retryAfterDays: [10, 10] })
    await gateway.subscription.create({ id: 's', planId: 'monthly', paymentMethodToken: token })
    sandbox.failCharges(token, '2001')
    await clock.advance({ months: 3 })
    expect(await gateway.subscription.find('s')).toMatchObject({
      status: 'Past Due',
      balance: '30.00',
      failureCount: 5,
      daysPastDue: 59,
    })
    sandbox.failCharges(token, null)
    await clock.advance({ months: 1 })
    const found = await gateway.subscription.find('s')
    expect(found).toMatchObject({ status: 'Active', balance: '0.00', failureCount: 0 })
    expect(found.transactions?.[0]).toMatchObject({ amount: '40.00' })
  })

  it('ends at the end of its last billing cycle, which is the way to cancel at the period end', async () => {
    const merchant = await startMerchant()
    const { gateway, clock, sandbox, outbox } = merchant
    const { token, customerId } = await addCustomer(merchant)
    const { url, received } = await listen(merchant)
    await gateway.subscription.create({ id: 's', planId: 'monthly', paymentMethodToken: token })
    sandbox.registerWebhook(url)
    const ended = await gateway.subscription.update('s', { numberOfBillingCycles: 1 })
    expect(ended.subscription).toMatchObject({ numberOfBillingCycles: 1, neverExpires: false })
    await clock.advanceTo(new Date('2026-02-14T23:59:59Z'))
    expect(sandbox.subscription('s')?.status).toBe('Active')
    await clock.advanceTo(new Date('2026-02-15T00:00:00Z'))
    await outbox.flush()
    expect(await gateway.subscription.find('s')).toMatchObject({
      status: 'Expired',
      paidThroughDate: '2026-02-14',
    })
    expect(received.map(({ kind }) => kind)).toEqual(['subscription_expired'])
    expect(sandbox.transactions(customerId)).toHaveLength(1)
  })

  it('continues if the limit of billing cycles is removed before the last cycle ends', async () => {
    const merchant = await startMerchant()
    const { gateway, clock, sandbox } = merchant
    const { token } = await addCustomer(merchant)
    await gateway.subscription.create({ id: 's', planId: 'monthly', paymentMethodToken: token })
    await gateway.subscription.update('s', { numberOfBillingCycles: 1 })
    const resumed = await gateway.subscription.update('s', {
      neverExpires: true,
      numberOfBillingCycles: null as never,
    })
    expect(resumed.subscription).toMatchObject({ numberOfBillingCycles: null, neverExpires: true })
    await clock.advance({ months: 2 })
    expect(sandbox.subscription('s')).toMatchObject({ status: 'Active', currentBillingCycle: 3 })
  })

  it('sends notifications for a new subscription and for one that starts later', async () => {
    const merchant = await startMerchant()
    const { gateway, clock, sandbox, outbox } = merchant
    const { token } = await addCustomer(merchant)
    const { url, received } = await listen(merchant)
    sandbox.registerWebhook(url)
    await gateway.subscription.create({ planId: 'monthly', paymentMethodToken: token })
    await outbox.flush()
    const charged = ['subscription_charged_successfully', 'subscription_went_active']
    expect(received.map(({ kind }) => kind)).toEqual(charged)
    const later = await gateway.subscription.create({
      planId: 'monthly',
      paymentMethodToken: token,
      firstBillingDate: '2026-01-20' as never,
    })
    expect(later.subscription).toMatchObject({
      status: 'Pending',
      currentBillingCycle: 0,
      billingPeriodStartDate: null,
      billingDayOfMonth: 20,
    })
    expect(later.subscription.transactions).toEqual([])
    await clock.advanceTo(new Date('2026-01-20T00:00:00Z'))
    await outbox.flush()
    expect(received.map(({ kind }) => kind)).toEqual([...charged, ...charged])
    expect(sandbox.subscription(later.subscription.id)?.status).toBe('Active')
  })
})
