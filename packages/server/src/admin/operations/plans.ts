import { z } from 'zod'
import { type Operation, operation } from '../operation.ts'
import { moneyJson, moneyShape, providerName } from './billing-fields.ts'
import { nameSchema } from './fields.ts'

const planShape = z.strictObject({
  id: z.string(),
  name: z.string(),
  price: moneyShape.describe('The price that the pages show'),
  months: z.number().int().describe('Billing interval'),
  trial_days: z.number().int(),
  seats: z.boolean(),
  provider_ids: z.record(z.string(), z.string()).describe("The price's id at each provider"),
})
nameSchema('Plan', planShape)

const catalogShape = z.strictObject({
  provider: z.string(),
  prices: z.array(
    z.strictObject({
      id: z.string(),
      name: z.string().nullable(),
      amount: moneyShape.nullable().describe('`null` if it depends on the quantity or the usage'),
      period: z.strictObject({ unit: z.string(), count: z.number().int() }),
      trial_days: z.number().int().nullable(),
      offered_as: z
        .string()
        .nullable()
        .describe('Id of the plan in the settings that uses this price. `null` if there is none'),
    }),
  ),
  coupons: z.array(
    z.strictObject({
      id: z.string(),
      name: z.string().nullable(),
      percent_off: z.number().nullable(),
      amount_off: moneyShape.nullable(),
      lasts: z
        .union([z.enum(['once', 'forever']), z.number().int()])
        .describe('A number counts billing periods or months, depending on the provider'),
      is_valid: z.boolean(),
    }),
  ),
  complete: z.boolean().describe('Whether all prices and coupons are listed'),
})
nameSchema('Catalog', catalogShape)

const providerNames = providerName.options

/** Operations on plans, prices and coupons. */
export const planOperations: readonly Operation[] = [
  operation({
    name: 'billing.listPlans',
    summary: 'Show the configured plans, and the prices and coupons of the providers',
    description:
      'Lists at most 200 prices and 200 coupons per provider. Archived prices, one-time prices and promotion codes are left out.',
    route: ['GET', '/plans'],
    role: 'viewer',
    effect: 'read',
    input: z.strictObject({}),
    output: z.strictObject({ plans: z.array(planShape), providers: z.array(catalogShape) }),
    async run(_input, { billing, config }) {
      const { plans, currency } = config.settings
      const idsOf = (plan: (typeof plans)[number]) =>
        Object.fromEntries(providerNames.map((name) => [name, plan[name]]))
      const catalogs = await (await billing.provider()).catalogs()
      return {
        plans: plans.map((plan) => ({
          id: plan.id,
          name: plan.name,
          price: { amount: plan.amount, currency },
          months: plan.months,
          trial_days: plan.trialDays,
          seats: plan.seats,
          provider_ids: idsOf(plan),
        })),
        providers: catalogs.map(({ provider, prices, coupons, complete }) => ({
          provider,
          complete,
          prices: prices.map(({ id, name, amount, period, trialDays }) => ({
            id,
            name,
            amount: amount && moneyJson(amount),
            period: { unit: period.unit, count: period.count },
            trial_days: trialDays,
            offered_as: plans.find((plan) => idsOf(plan)[provider] === id)?.id ?? null,
          })),
          coupons: coupons.map(({ id, name, percentOff, amountOff, lasts, isValid }) => ({
            id,
            name,
            percent_off: percentOff,
            amount_off: amountOff && moneyJson(amountOff),
            lasts,
            is_valid: isValid,
          })),
        })),
      }
    },
  }),
]
