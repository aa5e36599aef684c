import { formatMoney, type Money } from '@tollgate/billing'
import { PROVIDER_NAMES } from '../../users/account-billing.ts'
import { type Command, type Commands, command } from '../command.ts'
import { withOperations } from '../open-operations.ts'
import * as option from '../options.ts'
import { formatTable } from '../table.ts'
import { UsageError } from '../usage-error.ts'

const PROVIDERS = Object.keys(PROVIDER_NAMES)
const LARGEST_PAGE = 100
const PAGE = 25

interface PlanJson {
  readonly id: string
  readonly name: string
  readonly price: Money
  readonly months: number
  readonly trial_days: number
  readonly subscriptions: number
}

interface PriceJson {
  readonly id: string
  readonly name: string | null
  readonly amount: Money | null
  readonly period: { readonly unit: string; readonly count: number }
  readonly plan: string | null
  readonly subscriptions: number
}

interface CouponJson {
  readonly id: string
  readonly name: string | null
  readonly percent_off: number | null
  readonly amount_off: Money | null
  readonly lasts: string | number
  readonly is_valid: boolean
}

interface CodeJson {
  readonly code: string
  readonly coupon: string
  readonly expires_at: string | null
  readonly left: number | null
  readonly is_active: boolean
}

export const catalogCommands: Commands = {
  'billing plans': command({
    summary: 'list the configured plans, and how many subscriptions have them',
    run: (_input, context) =>
      withOperations(context, { onlyReads: true }, async ({ perform }) => {
        const { data } = await perform<{ data: PlanJson[] }>('billing.listPlans', {})
        const headers = ['ID', 'NAME', 'PRICE', 'MONTHS', 'TRIAL DAYS', 'SUBSCRIPTIONS']
        const rows = data.map((plan) => [
          plan.id,
          plan.name,
          formatMoney(plan.price),
          String(plan.months),
          String(plan.trial_days),
          String(plan.subscriptions),
        ])
        return { json: data, text: formatTable(headers, rows, 'No plans are configured') }
      }),
  }),
  'billing prices': catalogCommand<PriceJson>({
    summary: 'list the prices of a provider, and how many subscriptions have them',
    operation: 'billing.listPrices',
    headers: ['ID', 'NAME', 'AMOUNT', 'PER', 'PLAN', 'SUBSCRIPTIONS'],
    cells: ({ id, name, amount, period, plan, subscriptions }) => [
      id,
      name ?? '',
      amount ? formatMoney(amount) : '-',
      period.count === 1 ? period.unit : `${period.count} ${period.unit}s`,
      plan ?? '-',
      String(subscriptions),
    ],
    none: 'There are no prices',
  }),
  'billing coupons': catalogCommand<CouponJson>({
    summary: 'list the coupons of a provider',
    operation: 'billing.listCoupons',
    headers: ['ID', 'NAME', 'DISCOUNT', 'LASTS', 'VALID'],
    cells: ({ id, name, percent_off, amount_off, lasts, is_valid }) => [
      id,
      name ?? '',
      amount_off ? formatMoney(amount_off) : `${percent_off ?? 0}%`,
      String(lasts),
      is_valid ? 'yes' : 'no',
    ],
    none: 'There are no coupons',
  }),
  'billing promotion-codes': catalogCommand<CodeJson>({
    summary: 'list the promotion codes of a provider, newest first',
    operation: 'billing.listPromotionCodes',
    headers: ['CODE', 'COUPON', 'EXPIRES', 'USES LEFT', 'ACTIVE'],
    cells: ({ code, coupon, expires_at, left, is_active }) => [
      code,
      coupon,
      expires_at ?? 'never',
      left === null ? 'any' : String(left),
      is_active ? 'yes' : 'no',
    ],
    none: 'There are no promotion codes',
  }),
}

interface CatalogCommand<Entry> {
  readonly summary: string
  /** The operation that lists the entries. */
  readonly operation: string
  readonly headers: readonly string[]
  cells(entry: Entry): string[]
  /** The text for an empty list. */
  readonly none: string
}

/** Creates a command that lists a part of a provider's catalog. */
function catalogCommand<Entry>({
  summary,
  operation,
  headers,
  cells,
  none,
}: CatalogCommand<Entry>): Command {
  return command({
    summary,
    arguments: [{ name: 'provider', description: PROVIDERS.join(' or ') }],
    options: {
      limit: option.count('<number>', `number of entries (default ${PAGE})`, LARGEST_PAGE),
      after: option.text(
        '<cursor>',
        'continue after the previous page, with the cursor that it printed',
      ),
    },
    async run({ args: [provider = ''], options: { limit, after } }, context) {
      if (!PROVIDERS.includes(provider)) {
        throw new UsageError(`There is no provider "${provider}": use ${PROVIDERS.join(' or ')}`)
      }
      await context.config(['providers'])
      const input = { provider, limit: limit ?? PAGE, ...(after !== null && { after }) }
      return withOperations(context, { onlyReads: true }, async ({ perform }) => {
        const page = await perform<{ data: Entry[]; next: string | null }>(operation, input)
        if (page.next !== null) context.hint(`There are more entries: add --after ${page.next}`)
        return { json: page.data, text: formatTable(headers, page.data.map(cells), none) }
      })
    },
  })
}
