import { PAUSED_INVOICE_BEHAVIORS } from '../../admin/operations/pauses.ts'
import { type Commands, command } from '../command.ts'
import * as option from '../options.ts'
import { OWNER_OPTION, USER_ARGUMENT } from '../owner.ts'
import { changeSubscription, SUBSCRIPTION_OPTION } from '../subscription.ts'

/** Commands that change a subscription of a person or another owner. */
export const subscriptionChangeCommands: Commands = {
  'billing plan-change': command({
    summary: 'change the price of a subscription when its next period begins',
    withConfig: true,
    arguments: [
      USER_ARGUMENT,
      { name: 'price', description: "the provider's id of the new price" },
    ],
    options: {
      quantity: option.count('<number>', 'quantity of the new price', 1_000_000),
      subscription: SUBSCRIPTION_OPTION,
      owner: OWNER_OPTION,
    },
    run: ({ args: [user = '', price = ''], options: { quantity, subscription, owner } }, context) =>
      changeSubscription({ user, owner, subscription }, context, {
        operation: 'billing.planChange',
        input: { price, ...(quantity !== null && { quantity }) },
        describe: ({ planned }) =>
          planned
            ? `changes to ${planned.plan} on ${planned.at.slice(0, 10)}`
            : 'has this price already; no change is planned',
      }),
  }),
  'billing cancel-plan-change': command({
    summary: 'cancel the planned change of a subscription',
    withConfig: true,
    arguments: [USER_ARGUMENT],
    options: { subscription: SUBSCRIPTION_OPTION, owner: OWNER_OPTION },
    run: ({ args: [user = ''], options: { subscription, owner } }, context) =>
      changeSubscription({ user, owner, subscription }, context, {
        operation: 'billing.cancelPlannedChange',
        describe: ({ plan }) => `keeps ${plan}`,
      }),
  }),
  'billing pause': command({
    summary: 'pause the payments of a subscription',
    withConfig: true,
    arguments: [USER_ARGUMENT],
    options: {
      until: option.date('<date>', 'when the pause ends by itself'),
      bills: option.choice(
        PAUSED_INVOICE_BEHAVIORS,
        '<name>',
        `invoices during the pause: ${PAUSED_INVOICE_BEHAVIORS.join(', ')} (default ${PAUSED_INVOICE_BEHAVIORS[0]})`,
      ),
      subscription: SUBSCRIPTION_OPTION,
      owner: OWNER_OPTION,
    },
    run: ({ args: [user = ''], options: { until, bills, subscription, owner } }, context) =>
      changeSubscription({ user, owner, subscription }, context, {
        operation: 'billing.pause',
        input: { until: until?.toISOString() ?? null, ...(bills !== null && { bills }) },
        describe: () => (until ? `is paused until ${until.toISOString()}` : 'is paused'),
      }),
  }),
  'billing coupon': command({
    summary: 'apply a coupon to a subscription, in place of its discounts',
    withConfig: true,
    arguments: [USER_ARGUMENT, { name: 'coupon', description: "the provider's id of the coupon" }],
    options: { subscription: SUBSCRIPTION_OPTION, owner: OWNER_OPTION },
    run: ({ args: [user = '', coupon = ''], options: { subscription, owner } }, context) =>
      changeSubscription({ user, owner, subscription }, context, {
        operation: 'billing.applyCoupon',
        input: { coupon },
        describe: () => `has the coupon ${coupon} from the next invoice on`,
      }),
  }),
  'billing promotion-code': command({
    summary: 'apply a promotion code to a subscription, in place of its discounts',
    withConfig: true,
    arguments: [
      USER_ARGUMENT,
      { name: 'code', description: 'the code, as a person would type it' },
    ],
    options: { subscription: SUBSCRIPTION_OPTION, owner: OWNER_OPTION },
    run: ({ args: [user = '', code = ''], options: { subscription, owner } }, context) =>
      changeSubscription({ user, owner, subscription }, context, {
        operation: 'billing.applyPromotionCode',
        input: { code },
        describe: () => `has the discount of ${code} from the next invoice on`,
      }),
  }),
  'billing remove-discounts': command({
    summary: 'remove all discounts of a subscription',
    withConfig: true,
    arguments: [USER_ARGUMENT],
    options: { subscription: SUBSCRIPTION_OPTION, owner: OWNER_OPTION },
    run: ({ args: [user = ''], options: { subscription, owner } }, context) =>
      changeSubscription({ user, owner, subscription }, context, {
        operation: 'billing.removeDiscounts',
        describe: () => 'has the full price from the next invoice on',
      }),
  }),
  'billing unpause': command({
    summary: 'end the pause of a subscription',
    withConfig: true,
    arguments: [USER_ARGUMENT],
    options: { subscription: SUBSCRIPTION_OPTION, owner: OWNER_OPTION },
    run: ({ args: [user = ''], options: { subscription, owner } }, context) =>
      changeSubscription({ user, owner, subscription }, context, {
        operation: 'billing.unpause',
        describe: () => 'is not paused',
      }),
  }),
}
