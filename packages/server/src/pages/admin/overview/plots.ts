import { money } from '@tollgate/billing'
import { ENGLISH, formatAmount, type PageText } from '../../../messages/messages.ts'
import {
  type Day,
  type Statistic,
  type StatisticName,
  toUtcDay,
} from '../../../statistics/daily-statistics.ts'
import { DAYS_SHOWN } from '../../../statistics/statistics.ts'
import type { PlotSeries, PlotView } from './plot.tsx'

const DAY_MS = 86_400_000

/** Returns the last `count` days, including today. */
export function listLastDays(now: Date, count = DAYS_SHOWN): Day[] {
  return Array.from({ length: count }, (_, at) =>
    toUtcDay(new Date(now.getTime() - (count - 1 - at) * DAY_MS)),
  )
}

export interface OverviewPlots {
  readonly statistics: readonly Statistic[]
  /** The current time of the service. */
  readonly now: Date
  /** The current time of billing. Differs from `now` in a demo whose clock was moved. */
  readonly billingNow: Date
  /** Currency of the revenue plot that is shown while there is no revenue. */
  readonly currency: string
  /**
   * Texts in the language of the page.
   * @default English
   */
  readonly t?: PageText
}

/** Creates the plots of the overview page. */
export function createPlots(overview: OverviewPlots): PlotView[] {
  const { statistics, now, billingNow, currency, t = ENGLISH } = overview
  const real = listLastDays(now)
  const billed = listLastDays(billingNow)
  const values = (name: StatisticName, days: readonly Day[], unit = '') => {
    const of = statistics.filter((statistic) => statistic.name === name && statistic.unit === unit)
    const byDay = new Map(of.map(({ day, amount }) => [day, amount]))
    return days.map((day) => byDay.get(day) ?? 0)
  }
  const count = (value: number) => value.toLocaleString(t.locale)
  const dayFormat = new Intl.DateTimeFormat(t.locale, { dateStyle: 'medium', timeZone: 'UTC' })
  const shown = (days: readonly Day[]) => days.map((day) => dayFormat.format(new Date(day)))
  const inAll = (series: PlotSeries) => series.values.reduce((sum, value) => sum + value, 0)
  const line = (name: string, numbers: readonly number[], tone: PlotSeries['tone'] = 'main') => ({
    name,
    values: numbers,
    tone,
  })

  const tokens = line(t('plot.tokens.series'), values('tokens.issued', real))
  const active = line(t('plot.subscriptions.series'), values('subscriptions.active', billed))
  const failed = line(t('plot.failed'), values('charges.failed', billed), 'bad')
  const accepted = line(t('plot.webhooks.accepted'), values('webhooks.accepted', billed))
  const refused = line(t('plot.webhooks.refused'), values('webhooks.refused', billed), 'bad')
  const earned = statistics.filter(
    ({ name, day }) => name === 'revenue' && day >= (billed[0] ?? ''),
  )
  const currencies = [...new Set(earned.map(({ unit }) => unit))].sort()

  return [
    {
      id: 'tokens',
      title: t('plot.tokens'),
      explanation: t('plot.tokens.text'),
      headline: t('plot.total', { count: inAll(tokens), days: real.length }),
      days: shown(real),
      series: [tokens],
      format: count,
    },
    {
      id: 'subscriptions',
      title: t('plot.subscriptions'),
      explanation: t('plot.subscriptions.text'),
      headline: t('plot.now', { count: active.values.at(-1) ?? 0 }),
      days: shown(billed),
      series: [active],
      format: count,
    },
    ...(currencies.length > 0 ? currencies : [currency]).map((unit): PlotView => {
      const revenue = line(t('plot.revenue.series'), values('revenue', billed, unit))
      const format = (value: number) => formatAmount(money(value, unit), t)
      return {
        id: `revenue-${unit}`,
        title: t('plot.revenue', { currency: unit.toUpperCase() }),
        explanation: t('plot.revenue.text'),
        headline: t('plot.total', { count: format(inAll(revenue)), days: billed.length }),
        days: shown(billed),
        series: [revenue],
        format,
      }
    }),
    {
      id: 'failed',
      title: t('plot.failed'),
      explanation: t('plot.failed.text'),
      headline: t('plot.total', { count: inAll(failed), days: billed.length }),
      days: shown(billed),
      series: [failed],
      format: count,
    },
    {
      id: 'webhooks',
      title: t('plot.webhooks'),
      explanation: t('plot.webhooks.text'),
      headline: t('plot.webhooks.total', {
        accepted: inAll(accepted),
        refused: inAll(refused),
      }),
      days: shown(billed),
      series: [accepted, refused],
      format: count,
    },
  ]
}
