import type {
  CatalogCoupon,
  CatalogOptions,
  CatalogPage,
  CatalogPromotionCode,
  ProviderName,
} from '@tollgate/billing'
import { z } from 'zod'
import type { Config } from '../../config/config.ts'
import type { PriceTerms } from '../../config/plans.ts'
import type { Plan } from '../../config/settings.ts'
import { type Operation, type OperationContext, operation, readBilling } from '../operation.ts'
import { moneyShape, providerName, toMoneyJson } from './billing-fields.ts'
import { instant, nameSchema, type PageRequest, pagedFields, pageShape } from './fields.ts'

const subscriptions = z
  .number()
  .int()
  .describe('Number of subscriptions in Tollgate that have the price now and have not ended')

const planShape = z.strictObject({
  id: z.string(),
  name: z.string(),
  price: moneyShape.describe('The price that the pages show'),
  months: z.number().int().describe('Billing interval'),
  trial_days: z.number().int(),
  seats: z.boolean().describe('Whether the plan is sold by the seat'),
  additional_prices: z.array(
    z.strictObject({
      id: z.string(),
      name: z.string(),
      meter: z.string().nullable().describe('The meter of a price that is charged by usage'),
      provider_ids: z.record(z.string(), z.string()),
    }),
  ),
  provider_ids: z.record(z.string(), z.string()).describe("The price's id at each provider"),
  subscriptions,
})
nameSchema('Plan', planShape)

const priceShape = z.strictObject({
  id: z.string(),
  name: z.string().nullable(),
  amount: moneyShape.nullable().describe('`null` if it depends on the quantity or the usage'),
  period: z.strictObject({
    unit: z.enum(['day', 'week', 'month', 'year']),
    count: z.number().int(),
  }),
  trial_days: z.number().int().nullable(),
  plan: z
    .string()
    .nullable()
    .describe('Id of the configured plan that uses this price. `null` if there is none'),
  subscriptions,
})
nameSchema('Price', priceShape)

const couponShape = z.strictObject({
  id: z.string(),
  name: z.string().nullable(),
  percent_off: z.number().nullable().describe('`null` for a fixed amount'),
  amount_off: moneyShape.nullable().describe('`null` for a percentage'),
  lasts: z
    .union([z.enum(['once', 'forever']), z.number().int()])
    .describe('A number counts months or billing periods, depending on the provider'),
  is_valid: z.boolean().describe('Whether new subscriptions can use it'),
})
nameSchema('Coupon', couponShape)

const promotionCodeShape = z.strictObject({
  id: z.string(),
  code: z.string().describe('The code that people type'),
  coupon: z.string().describe('Id of the coupon that the code gives'),
  is_active: z.boolean().describe('Whether the code, and its coupon, can still be used'),
  expires_at: instant.nullable().describe('`null` if it never expires'),
  left: z
    .number()
    .int()
    .nullable()
    .describe('How often it can still be used. `null` for any number of times'),
})
nameSchema('PromotionCode', promotionCodeShape)

type Uses = (provider: ProviderName, price: string) => number

/** Counts the subscriptions of every price with one statement. */
async function readUses(context: OperationContext): Promise<Uses> {
  const keyOf = (provider: ProviderName, price: string) => JSON.stringify([provider, price])
  const counts = await (await readBilling(context)).countByPrice()
  const uses = new Map(counts.map((each) => [keyOf(each.provider, each.price), each.subscriptions]))
  return (provider, price) => uses.get(keyOf(provider, price)) ?? 0
}

const providerNames = providerName.options

function planJson(plan: Plan, uses: Uses, { settings }: Config): z.output<typeof planShape> {
  return {
    id: plan.id,
    name: plan.name,
    price: { amount: plan.amount, currency: settings.currency },
    months: plan.months,
    trial_days: plan.trialDays,
    seats: plan.seats.max > 1,
    additional_prices: plan.prices.map((price) => ({
      id: price.id,
      name: price.name,
      meter: price.meter,
      provider_ids: Object.fromEntries(providerIds(price)),
    })),
    provider_ids: Object.fromEntries(providerIds(plan)),
    subscriptions: providerIds(plan).reduce((sum, [name, id]) => sum + uses(name, id), 0),
  }
}

/** Lists the ids of a price at the providers that can sell it. */
function providerIds(price: PriceTerms): Array<[ProviderName, string]> {
  return providerNames.flatMap((name): Array<[ProviderName, string]> => {
    const id = price[name]
    return id === null ? [] : [[name, id]]
  })
}

function couponJson(coupon: CatalogCoupon): z.output<typeof couponShape> {
  const { id, name, percentOff, amountOff, lasts, isValid } = coupon
  return {
    id,
    name,
    percent_off: percentOff,
    amount_off: amountOff && toMoneyJson(amountOff),
    lasts,
    is_valid: isValid,
  }
}

function promotionCodeJson(code: CatalogPromotionCode): z.output<typeof promotionCodeShape> {
  return {
    id: code.id,
    code: code.code,
    coupon: code.coupon,
    is_active: code.isActive,
    expires_at: code.expiresAt?.toISOString() ?? null,
    left: code.left,
  }
}

interface CatalogRequest extends PageRequest {
  readonly provider: ProviderName
}

const catalogInput = z.strictObject({
  provider: providerName.describe('The provider that is asked'),
  ...pagedFields,
})

/** Reads one page of a list of the provider. `list` names it in cursors. */
async function readCatalogPage<Entry>(
  list: string,
  { provider, after, limit }: CatalogRequest,
  { cursors }: OperationContext,
  read: (options: CatalogOptions) => Promise<CatalogPage<Entry>>,
): Promise<CatalogPage<Entry>> {
  const name = `${list} ${provider}`
  const position = after === undefined ? undefined : (cursors.decode(name, after) as string)
  const { entries, next } = await read({
    provider,
    limit,
    ...(position !== undefined && { after: position }),
  })
  return { entries, next: next === null ? null : cursors.encode(name, next) }
}

/**
 * Operations on plans, prices and coupons. All of them only read: plans are changed in the
 * configuration, prices and coupons at the providers.
 */
export const planOperations: readonly Operation[] = [
  operation({
    name: 'billing.listPlans',
    summary: 'List the configured plans',
    description: 'Reads only the configuration and the tables of Tollgate, not the providers.',
    route: ['GET', '/plans'],
    role: 'viewer',
    effect: 'read',
    input: z.strictObject({}),
    output: z.strictObject({ data: z.array(planShape) }),
    async run(_input, context) {
      const { config } = context
      const uses = await readUses(context)
      return { data: config.settings.plans.map((plan) => planJson(plan, uses, config)) }
    },
  }),
  operation({
    name: 'billing.listPrices',
    summary: 'List the prices of a provider, as the provider has them now',
    description:
      "Some providers call a price a plan. Archived prices and one-time prices are left out. The order is the provider's.",
    route: ['GET', '/prices'],
    role: 'viewer',
    effect: 'read',
    input: catalogInput,
    output: pageShape(priceShape),
    async run(input, context) {
      const { provider } = input
      const { plans } = context.config.settings
      const { catalog } = await context.billing.provider()
      const [{ entries, next }, uses] = await Promise.all([
        readCatalogPage('prices', input, context, catalog.prices),
        readUses(context),
      ])
      return {
        data: entries.map(({ id, name, amount, period, trialDays }) => ({
          id,
          name,
          amount: amount && toMoneyJson(amount),
          period: { unit: period.unit, count: period.count },
          trial_days: trialDays,
          plan: plans.find((plan) => plan[provider] === id)?.id ?? null,
          subscriptions: uses(provider, id),
        })),
        next,
      }
    },
  }),
  operation({
    name: 'billing.listCoupons',
    summary: 'List the coupons of a provider, as the provider has them now',
    description: "Some providers call a coupon a discount. The order is the provider's.",
    route: ['GET', '/coupons'],
    role: 'viewer',
    effect: 'read',
    input: catalogInput,
    output: pageShape(couponShape),
    async run(input, context) {
      const { catalog } = await context.billing.provider()
      const { entries, next } = await readCatalogPage('coupons', input, context, catalog.coupons)
      return { data: entries.map(couponJson), next }
    },
  }),
  operation({
    name: 'billing.listPromotionCodes',
    summary: 'List the promotion codes of a provider, newest first',
    description: 'The list is empty for a provider without promotion codes.',
    route: ['GET', '/promotion-codes'],
    role: 'viewer',
    effect: 'read',
    input: catalogInput,
    output: pageShape(promotionCodeShape),
    async run(input, context) {
      const { catalog } = await context.billing.provider()
      const { entries, next } = await readCatalogPage(
        'promotion codes',
        input,
        context,
        catalog.promotionCodes,
      )
      return { data: entries.map(promotionCodeJson), next }
    },
  }),
]
