import { PAUSED_BILLS } from '../../admin/operations/pauses.ts'
import type { SubscriptionJson } from '../../admin/operations/subscriptions.ts'
import type { Account } from '../../users/user.ts'
import { type CommandContext, type Commands, command, type Outcome } from '../command.ts'
import type { OpenOperations } from '../open-operations.ts'
import * as option from '../options.ts'
import { UsageError } from '../usage-error.ts'
import { ACCOUNT, withAccount } from './user.ts'

const subscription = option.count(
  '<id>',
  'id of the subscription; needed if the person has several that have not ended',
  1e9,
)

/** Commands that change a subscription of a person. */
export const subscriptionChangeCommands: Commands = {
  'billing plan-change': command({
    summary: 'change the price of a subscription when its next period begins',
    arguments: [ACCOUNT, { name: 'price', description: "the provider's id of the new price" }],
    options: {
      quantity: option.count('<number>', 'quantity of the new price', 1_000_000),
      subscription,
    },
    run: ({ args, options: { quantity, subscription } }, context) =>
      change(args, context, subscription, {
        operation: 'billing.planChange',
        input: { price: args[1], ...(quantity !== null && { quantity }) },
        describe: ({ planned }) =>
          planned
            ? `changes to ${planned.plan} on ${planned.at.slice(0, 10)}`
            : 'has this price already; no change is planned',
      }),
  }),
  'billing cancel-plan-change': command({
    summary: 'cancel the planned change of a subscription',
    arguments: [ACCOUNT],
    options: { subscription },
    run: ({ args, options: { subscription } }, context) =>
      change(args, context, subscription, {
        operation: 'billing.cancelPlannedChange',
        describe: ({ plan }) => `keeps ${plan}`,
      }),
  }),
  'billing pause': command({
    summary: 'pause the payments of a subscription',
    arguments: [ACCOUNT],
    options: {
      until: option.date('<date>', 'when the pause ends by itself'),
      bills: option.choice(
        PAUSED_BILLS,
        '<name>',
        `invoices during the pause: ${PAUSED_BILLS.join(', ')} (default ${PAUSED_BILLS[0]})`,
      ),
      subscription,
    },
    run: ({ args, options: { until, bills, subscription } }, context) =>
      change(args, context, subscription, {
        operation: 'billing.pause',
        input: { until: until?.toISOString() ?? null, ...(bills !== null && { bills }) },
        describe: () => (until ? `is paused until ${until.toISOString()}` : 'is paused'),
      }),
  }),
  'billing coupon': command({
    summary: 'apply a coupon to a subscription, in place of its discounts',
    arguments: [ACCOUNT, { name: 'coupon', description: "the provider's id of the coupon" }],
    options: { subscription },
    run: ({ args, options: { subscription } }, context) =>
      change(args, context, subscription, {
        operation: 'billing.applyCoupon',
        input: { coupon: args[1] },
        describe: () => `has the coupon ${args[1]} from the next invoice on`,
      }),
  }),
  'billing promotion-code': command({
    summary: 'apply a promotion code to a subscription, in place of its discounts',
    arguments: [ACCOUNT, { name: 'code', description: 'the code, as a person would type it' }],
    options: { subscription },
    run: ({ args, options: { subscription } }, context) =>
      change(args, context, subscription, {
        operation: 'billing.applyPromotionCode',
        input: { code: args[1] },
        describe: () => `has the discount of ${args[1]} from the next invoice on`,
      }),
  }),
  'billing remove-discounts': command({
    summary: 'remove all discounts of a subscription',
    arguments: [ACCOUNT],
    options: { subscription },
    run: ({ args, options: { subscription } }, context) =>
      change(args, context, subscription, {
        operation: 'billing.removeDiscounts',
        describe: () => 'has the full price from the next invoice on',
      }),
  }),
  'billing unpause': command({
    summary: 'end the pause of a subscription',
    arguments: [ACCOUNT],
    options: { subscription },
    run: ({ args, options: { subscription } }, context) =>
      change(args, context, subscription, {
        operation: 'billing.unpause',
        describe: () => 'is not paused',
      }),
  }),
}

interface Change {
  readonly operation: string
  readonly input?: object
  /** Describes the changed subscription, as the end of a sentence. */
  readonly describe: (changed: SubscriptionJson) => string
}

/** Performs an operation on a subscription of a person, and prints the subscription afterwards. */
function change(
  args: readonly string[],
  context: CommandContext,
  given: number | null,
  { operation, input = {}, describe }: Change,
): Promise<Outcome> {
  return withAccount(args, context, async (account, opened) => {
    const { id } = account
    const subscription = given ?? (await findSubscription(account, opened))
    const changed = await opened.perform<SubscriptionJson>(operation, {
      id,
      subscription,
      ...input,
    })
    const text = `The subscription ${changed.name} of ${account.email} (${id}) ${describe(changed)}.`
    return { json: changed, text }
  })
}

/**
 * Finds the only subscription that has not ended.
 * @throws UsageError if there is none, or several.
 */
async function findSubscription(
  { id, email }: Account,
  { perform }: OpenOperations,
): Promise<number> {
  const { data } = await perform<{ data: readonly SubscriptionJson[] }>(
    'billing.listSubscriptionsOf',
    { id },
  )
  const running = data.filter(({ states }) => !states.includes('ended'))
  const [first, second] = running
  if (!first) throw new UsageError(`${email} (${id}) has no subscription that has not ended`)
  if (!second) return first.id
  const list = running.map((each) => `${each.id} (${each.name}, ${each.plan})`).join(', ')
  throw new UsageError(`${email} (${id}) has several subscriptions. Give --subscription: ${list}`)
}
