import { type FlowTest, START, start, stripeSdk } from '../../../../test/support.ts'
import type { UsageSummary } from '../../../index.ts'
import type { StartBillingOptions } from '../../../testing/index.ts'

type Sdk = Awaited<ReturnType<typeof stripeSdk>>
export type PriceTerms = Partial<Parameters<Sdk['prices']['create']>[0]>

export interface MeteredTest extends FlowTest {
  readonly stripe: Sdk
  /** Creates a metered price at Stripe and returns its id. The default is two cents per call. */
  price(terms?: PriceTerms): Promise<string>
  /** Reads how many of the user's calls Stripe has counted so far. */
  counted(): Promise<string | undefined>
  /** Reads the states of all usage reports in the database, oldest first. */
  states(): Promise<string[]>
}

/** Starts billing at Stripe with a meter for calls, and a user with a card. */
export async function startWithMeter(options: StartBillingOptions = {}): Promise<MeteredTest> {
  const test = await start('stripe', { webhooks: false, ...options })
  const stripe = await stripeSdk(test)
  const meter = await stripe.billing.meters.create({
    display_name: 'Calls',
    event_name: 'calls',
    default_aggregation: { formula: 'sum' },
  })
  const product = await stripe.products.create({ name: 'Calls' })
  await test.user.updateCard('pm_card_visa')
  return {
    ...test,
    stripe,
    async price(terms = { unit_amount: 2 }) {
      const { id } = await stripe.prices.create({
        product: product.id,
        currency: 'usd',
        recurring: { interval: 'month', usage_type: 'metered', meter: meter.id },
        ...terms,
      })
      return id
    },
    async counted() {
      const { data } = await stripe.billing.meters.listEventSummaries(meter.id, {
        customer: test.user.providerId ?? '',
        start_time: START.getTime() / 1000 - 40 * 86_400,
        end_time: START.getTime() / 1000 + 400 * 86_400,
      })
      return String(data[0]?.aggregated_value)
    },
    async states() {
      const rows = await test.database.kysely
        .selectFrom('billing_usage')
        .select('state')
        .orderBy('id')
        .execute()
      return rows.map(({ state }) => String(state))
    },
  }
}

export const listUsageValues = (sums: readonly UsageSummary[]) => sums.map(({ value }) => value)
