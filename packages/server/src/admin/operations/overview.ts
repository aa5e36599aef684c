import { z } from 'zod'
import {
  createDailyStatistics,
  type StatisticName,
  toUtcDay,
} from '../../statistics/daily-statistics.ts'
import { DAYS_SHOWN } from '../../statistics/statistics.ts'
import { type Operation, operation } from '../operation.ts'

const DAY_MS = 86_400_000

/** The statistics that the overview shows, each with its name in the API. */
const NAMES: Readonly<Record<StatisticName, string>> = {
  'tokens.issued': 'tokens_issued',
  'subscriptions.active': 'active_subscriptions',
  revenue: 'revenue',
  'charges.failed': 'failed_charges',
  'webhooks.accepted': 'accepted_webhooks',
  'webhooks.refused': 'refused_webhooks',
}

const NUMBERS = Object.values(NAMES) as [string, ...string[]]

/** Operations on the statistics of the overview. */
export const overviewOperations: readonly Operation[] = [
  operation({
    name: 'settings.getOverview',
    summary: 'Show the statistics of the overview, per day in UTC',
    description:
      'A day without an entry counts as zero. The counts of a running process appear within seconds; active subscriptions are measured about once an hour.',
    route: ['GET', '/overview'],
    role: 'viewer',
    effect: 'read',
    input: z.strictObject({
      days: z.coerce.number().int().min(1).max(DAYS_SHOWN).default(DAYS_SHOWN),
    }),
    output: z.strictObject({
      since: z.iso.date().describe('The first day'),
      numbers: z.array(
        z.strictObject({
          name: z.enum(NUMBERS),
          day: z.iso.date(),
          amount: z.number(),
          currency: z
            .string()
            .nullable()
            .describe(
              'For money: the currency, with `amount` in its smallest unit. Otherwise `null`',
            ),
        }),
      ),
    }),
    async run({ days }, { clock, database }) {
      const since = toUtcDay(new Date(clock.now().getTime() - (days - 1) * DAY_MS))
      const found = await createDailyStatistics(database).listSince(since)
      const numbers = found.map(({ name, day, unit, amount }) => ({
        name: NAMES[name],
        day,
        amount,
        currency: unit === '' ? null : unit,
      }))
      const order = ({ day, name, currency }: (typeof numbers)[number]) =>
        [day, name, currency].join(' ')
      return { since, numbers: numbers.sort((a, b) => (order(a) < order(b) ? -1 : 1)) }
    },
  }),
]
