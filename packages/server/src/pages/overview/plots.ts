import { formatMoney, money } from '@tollgate/billing'
import {
  type Day,
  dayOf,
  type Statistic,
  type StatisticName,
} from '../../statistics/daily-statistics.ts'
import { DAYS_SHOWN } from '../../statistics/statistics.ts'
import type { PlotView, Series } from './plot.tsx'

const DAY_MS = 86_400_000

/** The last days up to and including today. */
export function lastDays(now: Date, count = DAYS_SHOWN): Day[] {
  return Array.from({ length: count }, (_, at) =>
    dayOf(new Date(now.getTime() - (count - 1 - at) * DAY_MS)),
  )
}

export interface Overview {
  readonly statistics: readonly Statistic[]
  /** The service's today. */
  readonly now: Date
  /** Billing's today; another one in a demo whose clock was moved. */
  readonly billingNow: Date
  /** Shown with nothing in it while no money has come. */
  readonly currency: string
}

/** What the operator sees. Each says what it counts. */
export function plotsOf({ statistics, now, billingNow, currency }: Overview): PlotView[] {
  const real = lastDays(now)
  const billed = lastDays(billingNow)
  const values = (name: StatisticName, days: readonly Day[], unit = '') => {
    const of = statistics.filter((statistic) => statistic.name === name && statistic.unit === unit)
    const byDay = new Map(of.map(({ day, amount }) => [day, amount]))
    return days.map((day) => byDay.get(day) ?? 0)
  }
  const count = (value: number) => value.toLocaleString('en-US')
  const inAll = (series: Series) => series.values.reduce((sum, value) => sum + value, 0)
  const line = (name: string, numbers: readonly number[], tone: Series['tone'] = 'main') => ({
    name,
    values: numbers,
    tone,
  })

  const tokens = line('Tokens', values('tokens.issued', real))
  const active = line('Subscriptions', values('subscriptions.active', billed))
  const failed = line('Failed charges', values('charges.failed', billed), 'bad')
  const accepted = line('Accepted', values('webhooks.accepted', billed))
  const refused = line('Refused', values('webhooks.refused', billed), 'bad')
  const earned = statistics.filter(
    ({ name, day }) => name === 'revenue' && day >= (billed[0] ?? ''),
  )
  const currencies = [...new Set(earned.map(({ unit }) => unit))].sort()

  return [
    {
      id: 'tokens',
      title: 'Tokens issued',
      explanation:
        'Access tokens given out on each day by all grants, refreshes and personal access tokens included, whether or not they were revoked since.',
      headline: `${count(inAll(tokens))} in ${real.length} days`,
      days: real,
      series: [tokens],
      format: count,
    },
    {
      id: 'subscriptions',
      title: 'Active subscriptions',
      explanation:
        'Subscriptions in our rows that were open at the end of each day: paying, on trial, past due or cancelled and not over yet.',
      headline: `${count(active.values.at(-1) ?? 0)} now`,
      days: billed,
      series: [active],
      format: count,
    },
    ...(currencies.length > 0 ? currencies : [currency]).map((unit): PlotView => {
      const revenue = line('Revenue', values('revenue', billed, unit))
      const format = (value: number) => formatMoney(money(value, unit))
      return {
        id: `revenue-${unit}`,
        title: `Revenue in ${unit.toUpperCase()}`,
        explanation:
          'Paid invoices of Stripe and successful subscription charges of Braintree, on the day we heard of them. Refunds and single charges at Braintree are not in it, and currencies are never added up.',
        headline: `${format(inAll(revenue))} in ${billed.length} days`,
        days: billed,
        series: [revenue],
        format,
      }
    }),
    {
      id: 'failed',
      title: 'Failed charges',
      explanation:
        'Attempts to charge a subscription that a provider told us had failed; a retry that fails counts again. A card that is declined on the billing page does not.',
      headline: `${count(inAll(failed))} in ${billed.length} days`,
      days: billed,
      series: [failed],
      format: count,
    },
    {
      id: 'webhooks',
      title: 'Webhooks',
      explanation:
        'Deliveries to our webhook addresses: accepted with a good signature, repeated ones included, or refused.',
      headline: `${count(inAll(accepted))} accepted, ${count(inAll(refused))} refused`,
      days: billed,
      series: [accepted, refused],
      format: count,
    },
  ]
}
