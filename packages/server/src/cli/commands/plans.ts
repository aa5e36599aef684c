import type { CatalogPrice } from '@tollgate/billing'
import { createLocalOperation } from '../../admin/operations/maintenance.ts'
import type { QuotaJson } from '../../admin/operations/quotas.ts'
import type { Providers } from '../../billing.ts'
import type { Config } from '../../config/config.ts'
import { connectProviders } from '../../demo/connect-providers.ts'
import {
  type ComparedPrice,
  compareBraintreePlans,
  compareStripePrices,
  createStripeClient,
  createStripePrice,
  readCatalogPrices,
} from '../../plans/provider-prices.ts'
import { PROVIDER_NAMES } from '../../users/account-billing.ts'
import { type CommandContext, type CommandResult, type Commands, command } from '../command.ts'
import { formatCount } from '../count.ts'
import { type OpenOperations, withOperations } from '../open-operations.ts'
import { OWNER_OPTION, requireOwner, USER_ARGUMENT } from '../owner.ts'
import { formatTable } from '../table.ts'

/** Commands about the plans of the settings: their quotas, and their prices at the providers. */
export const planCommands: Commands = {
  usage: command({
    summary: 'show what a person or team has used of the quotas of the plan',
    arguments: [USER_ARGUMENT],
    options: { owner: OWNER_OPTION },
    run: ({ args: [user = ''], options }, context) =>
      withOperations(context, { onlyReads: true }, async (opened) => {
        const { owner, label } = await requireOwner(opened, { user, ...options })
        const found = await opened.perform<{ plan: string | null; data: QuotaJson[] }>(
          'billing.listQuotas',
          { owner },
        )
        const headers = ['QUOTA', 'USED', 'OF', 'LEFT', 'STARTS OVER']
        const rows = found.data.map(({ name, unit, used, quota, remaining, resets_at }) => [
          unit === null ? name : `${name} (${unit})`,
          String(used),
          quota === null ? 'unlimited' : String(quota),
          remaining === null ? '' : String(remaining),
          resets_at ?? 'never',
        ])
        const none = found.plan === null ? 'No plan has limits' : 'The plan has no quotas'
        const table = formatTable(headers, rows, none)
        return {
          json: found,
          text: (columns) =>
            found.plan === null ? none : `${label}: ${found.plan}\n${table(columns)}`,
        }
      }),
  }),
  'plans check': command({
    summary: 'check that the providers have the prices of the plans; exit code 1 if not',
    run: (_input, context) =>
      withComparison(context, async ({ compared }) => {
        const wrong = compared.filter(({ differences }) => differences?.length !== 0)
        return {
          json: wrong.map(toJson),
          text: wrong.length === 0 ? `All prices are there (${compared.length})` : describe(wrong),
          exitCode: wrong.length === 0 ? 0 : 1,
        }
      }),
  }),
  'plans diff': command({
    summary: 'compare the prices of the plans with those of the providers, in both directions',
    run: (_input, context) =>
      withComparison(context, async ({ compared, others }) => {
        const text = [...compared.map(describeOne), ...others.map(describeOther)]
        const json = { plans: compared.map(toJson), others: others.map(otherJson) }
        return { json, text: text.join('\n') || 'There are no plans and no prices' }
      }),
  }),
  'plans push': command({
    summary: 'create missing prices at Stripe; changes and deletes nothing',
    run: (_input, context) =>
      withComparison(context, async ({ compared, providers, config, opened }) => {
        const missing = compared.filter(({ differences }) => differences === null)
        const created: string[] = []
        const failed: { price: ComparedPrice; reason: string }[] = []
        const push = async () => {
          for (const price of missing) {
            const reason = await create(price, providers, config)
            if (reason === null) created.push(price.id)
            else failed.push({ price, reason })
          }
          return created
        }
        if (missing.length > 0) {
          const name = 'settings.pushPlans' as const
          const summary = 'Create prices of the plans at the provider'
          const details = (done: string[] | null) => ({ ...(done && { created: done }) })
          await opened.perform(createLocalOperation({ name, summary, details, work: push }), {})
        }
        const lines = [
          ...created.map((id) => `Created ${id} at Stripe`),
          ...failed.map(({ price, reason }) => `Not created: ${nameOf(price)}: ${reason}`),
        ]
        return {
          json: {
            created,
            failed: failed.map(({ price, reason }) => ({ ...toJson(price), reason })),
          },
          text: lines.join('\n') || 'Nothing is missing',
          exitCode: failed.length === 0 ? 0 : 1,
        }
      }),
  }),
  'plans pull': command({
    summary: 'print the prices of the providers as plans for tollgate.config.ts; writes nothing',
    run: (_input, context) =>
      withComparison(context, async ({ all }) => {
        const plans = toPlans(all)
        const lines = plans.map((plan) => `    ${formatPlan(plan)},`)
        const count = all.filter((price) => toPlan(price).length === 0).length
        const left = formatCount(count, 'price is', 'prices are')
        const remark =
          count === 0
            ? ''
            : `\n    // ${left} left out: not charged by month or year, or by quantity or usage`
        return {
          json: plans,
          text: `  plans: [\n${lines.join('\n')}${remark}\n  ],`,
        }
      }),
  }),
}

interface FoundPrice extends CatalogPrice {
  readonly provider: 'stripe' | 'braintree'
}

interface Comparison {
  readonly compared: readonly ComparedPrice[]
  /** All prices of the providers. */
  readonly all: readonly FoundPrice[]
  /** Prices of the providers that no plan has. */
  readonly others: readonly FoundPrice[]
  readonly providers: Providers
  readonly config: Config
  readonly opened: OpenOperations
}

/** Compares the plans with the prices of the providers that have keys, and runs `work` with the result. */
async function withComparison(
  context: CommandContext,
  work: (comparison: Comparison) => Promise<CommandResult>,
): Promise<CommandResult> {
  const config = await context.config(['secret', 'provider_keys'])
  return withOperations(context, { makesTables: true }, async (opened) => {
    const { providers, close } = await connectProviders(config)
    try {
      const billing = await opened.billing.provider()
      const { stripe, braintree } = providers
      const all: FoundPrice[] = []
      for (const provider of ['stripe', 'braintree'] as const) {
        if (!providers[provider]) continue
        const found = await readCatalogPrices(billing, provider)
        all.push(...found.map((each) => ({ ...each, provider })))
      }
      const compared = [
        ...(stripe ? await compareStripePrices(createStripeClient(stripe), config) : []),
        ...(braintree
          ? compareBraintreePlans(
              all.filter(({ provider }) => provider === 'braintree'),
              config,
            )
          : []),
      ]
      const others = all.filter(
        (found) =>
          !compared.some(({ provider, id }) => provider === found.provider && id === found.id),
      )
      return await work({ compared, all, others, providers, config, opened })
    } finally {
      await close()
    }
  })
}

/** Creates a price. Returns the reason if that is impossible. */
async function create(
  price: ComparedPrice,
  { stripe }: Providers,
  config: Config,
): Promise<string | null> {
  if (price.provider === 'stripe' && stripe) {
    return createStripePrice(createStripeClient(stripe), price, config)
  }
  const { amount } = price.terms
  return `create it in the control panel of Braintree, which has no function for it: id ${price.id}, price ${amount} in the smallest unit, every ${formatCount(price.months, 'month', 'months')}`
}

const nameOf = ({ provider, id, name }: ComparedPrice) =>
  `${id} (${name}) at ${PROVIDER_NAMES[provider]}`

function describeOne(price: ComparedPrice): string {
  const { differences } = price
  if (differences === null) return `+ ${nameOf(price)} is missing`
  if (differences.length === 0) return `= ${nameOf(price)}`
  return differences.map((text) => `~ ${nameOf(price)} ${text}`).join('\n')
}

const describe = (prices: readonly ComparedPrice[]) => prices.map(describeOne).join('\n')

const describeOther = ({ provider, id, name }: FoundPrice) =>
  `- ${id}${name === null ? '' : ` (${name})`} at ${PROVIDER_NAMES[provider]} belongs to no plan`

function toJson({ provider, id, name, plan, differences }: ComparedPrice) {
  return {
    ...{ provider, id, name, plan: plan.id },
    state: differences === null ? 'missing' : differences.length === 0 ? 'same' : 'different',
    differences: differences ?? [],
  }
}

const otherJson = ({ provider, id, name }: FoundPrice) => ({ provider, id, name })

interface PulledPlan {
  readonly id: string
  readonly name: string
  readonly amount: number
  readonly months: number
  readonly stripe: string | null
  readonly braintree: string | null
}

/** Describes prices as plans. Prices with the same id and cost at both providers are one plan. */
function toPlans(prices: readonly FoundPrice[]): PulledPlan[] {
  const plans = new Map<string, PulledPlan>()
  for (const plan of prices.flatMap(toPlan)) {
    const { id, amount, months, stripe, braintree } = plan
    const key = JSON.stringify([id, amount, months])
    const known = plans.get(key) ?? plan
    plans.set(key, {
      ...known,
      stripe: known.stripe ?? stripe,
      braintree: known.braintree ?? braintree,
    })
  }
  return [...plans.values()]
}

/** Describes a price as a plan. Empty if the settings cannot describe it. */
function toPlan({ provider, id, name, amount, period }: FoundPrice): PulledPlan[] {
  const months = { month: period.count, year: period.count * 12 }[period.unit as 'month' | 'year']
  if (amount === null || months === undefined || months > 12) return []
  const ids = { stripe: null, braintree: null, [provider]: id }
  return [{ id, name: name ?? id, amount: amount.amount, months, ...ids }]
}

/** Formats a plan as code. */
function formatPlan(plan: PulledPlan): string {
  const members = Object.entries(plan).map(([name, value]) => `${name}: ${formatValue(value)}`)
  return `{ ${members.join(', ')} }`
}

const formatValue = (value: string | number | null) =>
  typeof value === 'string' ? `'${value.replace(/[\\']/g, '\\$&')}'` : String(value)
