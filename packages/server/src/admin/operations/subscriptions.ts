import type { Capability, Owner, Subscription, SubscriptionStatus } from '@tollgate/billing'
import { z } from 'zod'
import { findPlanOfSubscription } from '../../config/plan-capabilities.ts'
import { countSeats } from '../../plans/seats.ts'
import { readPlanUsage } from '../../plans/usage.ts'
import type { AuditDescription } from '../audit/described.ts'
import { type Operation, operation } from '../operation.ts'
import { AdminProblem } from '../problems.ts'
import { providerName, requireSubscription } from './billing-fields.ts'
import { givenInstant, instant, nameSchema, pagedFields, pageShape } from './fields.ts'
import {
  describeOwner,
  formatOwner,
  owner,
  ownerJson,
  ownerShape,
  requireBillable,
  requireBillableTarget,
  requireOwnerTarget,
  requireSeatOwner,
  requireStoredOwner,
} from './owners.ts'

/** The states by which the list can be filtered, each with billing's name for it. */
const STATES = {
  active: 'active',
  on_trial: 'onTrial',
  recurring: 'recurring',
  cancelled: 'cancelled',
  on_grace_period: 'onGracePeriod',
  ended: 'ended',
  past_due: 'pastDue',
  incomplete: 'incomplete',
  awaits_first_payment: 'awaitsFirstPayment',
  paused: 'paused',
  suspended: 'suspended',
} as const satisfies Record<string, SubscriptionStatus>

type State = keyof typeof STATES
export const SUBSCRIPTION_STATES = Object.keys(STATES) as [State, ...State[]]

/** Changes that not every provider can make, each with the capability that it needs. */
const SUPPORT = {
  planned_changes: 'schedules',
  pauses: 'pauses',
  trial_extensions: 'trials',
  discounts: 'promotionCodes',
} as const satisfies Record<string, Capability>

const SUPPORTED = Object.keys(SUPPORT) as [keyof typeof SUPPORT, ...(keyof typeof SUPPORT)[]]

export const subscriptionShape = z.strictObject({
  id: z.number().int().describe('Id of the subscription in Tollgate'),
  ...ownerShape,
  name: z.string(),
  provider: z.string(),
  provider_id: z.string().describe("The provider's id of the subscription"),
  provider_status: z.string().describe("The provider's own status"),
  states: z.array(z.enum(SUBSCRIPTION_STATES)).describe('All states that currently apply'),
  plan: z.string().describe("The provider's id of the main price"),
  quantity: z.number().int(),
  items: z.array(z.strictObject({ price: z.string(), quantity: z.number().int().nullable() })),
  trial_ends_at: instant.nullable(),
  ends_at: instant
    .nullable()
    .describe(
      'When access ends, or ended. Until then, a cancelled subscription is in its grace period',
    ),
  paused_at: instant.nullable(),
  disputed_at: instant.nullable(),
  planned: z
    .strictObject({ plan: z.string(), at: instant })
    .nullable()
    .describe('The planned swap. `null` if there is none'),
  supports: z
    .array(z.enum(SUPPORTED))
    .describe('Changes that the provider of this subscription can make'),
  created_at: instant,
})
nameSchema('Subscription', subscriptionShape)

export type SubscriptionJson = z.output<typeof subscriptionShape>

const usageShape = z.strictObject({
  subscription: z.number().int().describe('Id of the subscription in Tollgate'),
  meter: z.string().describe('Name of the meter'),
  name: z.string().describe('Name of the price in the settings'),
  value: z.string().describe('Usage so far, as decimal text'),
  from: instant.describe('Start of the billing period'),
})
nameSchema('Usage', usageShape)
export type UsageJson = z.output<typeof usageShape>

const toText = (date: Date | null) => date?.toISOString() ?? null

export function subscriptionJson(subscription: Subscription): SubscriptionJson {
  const { id, owner, name, provider, providerId, providerStatus } = subscription
  const { plannedPrice, plannedAt } = subscription
  return {
    id,
    ...ownerJson(owner),
    name,
    provider,
    provider_id: providerId,
    provider_status: providerStatus,
    states: SUBSCRIPTION_STATES.filter((state) => subscription[STATES[state]]()),
    plan: subscription.providerPlan,
    quantity: subscription.quantity,
    items: subscription.items().map(({ price, quantity }) => ({ price, quantity })),
    trial_ends_at: toText(subscription.trialEndsAt),
    ends_at: toText(subscription.endsAt),
    paused_at: toText(subscription.pausedAt),
    disputed_at: toText(subscription.disputedAt),
    planned:
      plannedPrice === null || plannedAt === null
        ? null
        : { plan: plannedPrice, at: plannedAt.toISOString() },
    supports: SUPPORTED.filter((name) => subscription.can(SUPPORT[name])),
    created_at: subscription.createdAt.toISOString(),
  }
}

const subscriptionPathFields = {
  owner,
  subscription: z.coerce
    .number()
    .int()
    .positive()
    .max(1e15)
    .describe('Id of the subscription in Tollgate'),
}

function describeSubscription(input: {
  readonly owner: Owner
  readonly subscription: number
}): AuditDescription {
  const { owner, subscription, ...details } = input
  const subject = { kind: 'subscription', id: String(subscription), owner: formatOwner(owner) }
  return { subject, details }
}

const subscriptionListShape = z.strictObject({ data: z.array(subscriptionShape) })

/** Declares an operation that changes one subscription. */
export function defineSubscriptionChange<More extends z.ZodRawShape>(
  declared: Pick<Operation, 'name' | 'summary' | 'effect'> & { readonly description?: string },
  { path, fields }: { readonly path: string; readonly fields: More },
  perform: (
    subscription: Subscription,
    input: z.output<z.ZodObject<More>>,
  ) => Promise<Subscription>,
): Operation {
  const input = z.strictObject({ ...subscriptionPathFields, ...fields })
  return operation({
    ...declared,
    route: ['POST', `/users/{owner}/subscriptions/{subscription}/${path}`],
    role: 'support',
    commits: 'in-steps',
    input,
    output: subscriptionShape,
    describe: (given) =>
      describeSubscription(given as z.output<z.ZodObject<typeof subscriptionPathFields>>),
    async run(given, context) {
      const { owner, subscription } = given as z.output<z.ZodObject<typeof subscriptionPathFields>>
      const user = await requireBillableTarget(owner, context)
      const found = await requireSubscription(user, subscription)
      await perform(found, given as z.output<z.ZodObject<More>>)
      return subscriptionJson(await requireSubscription(user, subscription))
    },
  })
}

export const subscriptionOperations: readonly Operation[] = [
  operation({
    name: 'billing.listSubscriptions',
    summary: 'List all subscriptions, newest first',
    description:
      'Reads only the tables of Tollgate, not the providers. A page can contain fewer entries than `limit`, or none, even if more follow: continue until `next` is null.',
    route: ['GET', '/subscriptions'],
    role: 'viewer',
    effect: 'read',
    input: z.strictObject({
      ...pagedFields,
      state: z.enum(SUBSCRIPTION_STATES).optional().describe('Only those in this state'),
      provider: providerName.optional().describe('Only those at this provider'),
      plan: z
        .string()
        .min(1)
        .max(255)
        .optional()
        .describe("Only those with this price (the provider's id), as the main price or another"),
    }),
    output: pageShape(subscriptionShape),
    async run({ after, limit, state, provider, plan }, { billing, cursors }) {
      const list = `subscriptions ${JSON.stringify([state, provider, plan])}`
      const position = after === undefined ? undefined : (cursors.decode(list, after) as string)
      const rows = await billing.rows()
      const { subscriptions, next } = await rows.subscriptions({
        limit,
        ...(position === undefined ? {} : { after: position }),
        ...(state === undefined ? {} : { status: STATES[state] }),
        ...(provider === undefined ? {} : { provider }),
        ...(plan === undefined ? {} : { price: plan }),
      })
      return {
        data: subscriptions.map(subscriptionJson),
        next: next === null ? null : cursors.encode(list, next),
      }
    },
  }),
  operation({
    name: 'billing.listSubscriptionsOf',
    summary: 'List the subscriptions of a person or team, including ended ones',
    route: ['GET', '/users/{owner}/subscriptions'],
    role: 'viewer',
    effect: 'read',
    input: z.strictObject({ owner }),
    output: subscriptionListShape,
    async run({ owner }, context) {
      const user = await requireStoredOwner(owner, context)
      return { data: (await user.subscriptions()).map(subscriptionJson) }
    },
  }),
  operation({
    name: 'billing.listUsage',
    summary: 'List the usage of a person or team in the current billing periods',
    description:
      'Lists one entry for each price by usage that the plan of a running subscription has in the settings. The provider may count usage with a delay of some minutes.',
    route: ['GET', '/users/{owner}/usage'],
    role: 'viewer',
    effect: 'read',
    input: z.strictObject({ owner }),
    output: z.strictObject({ data: z.array(usageShape) }),
    async run({ owner }, context) {
      const user = await requireBillable(owner, context)
      const { plans } = context.config.settings
      const running = (await user.subscriptions()).filter((each) => !each.ended())
      const read = running.map(async (subscription) => {
        const used = await readPlanUsage(subscription, plans)
        return used.map(({ meter, name, value, from }) => ({
          subscription: subscription.id,
          meter,
          name,
          value,
          from: from.toISOString(),
        }))
      })
      return { data: (await Promise.all(read)).flat() }
    },
  }),
  operation({
    name: 'billing.sync',
    summary: 'Update the subscriptions of a person or team to their state at the provider',
    route: ['POST', '/users/{owner}/sync'],
    role: 'support',
    effect: 'change',
    commits: 'in-steps',
    input: z.strictObject({ owner }),
    output: subscriptionListShape,
    describe: ({ owner }) => ({ subject: describeOwner(owner) }),
    async run({ owner }, context) {
      const user = await requireBillable(owner, context)
      await user.sync()
      return { data: (await user.subscriptions()).map(subscriptionJson) }
    },
  }),
  operation({
    name: 'billing.countSeats',
    summary: 'Set the quantity of a subscription to the number of seats, counted now',
    description:
      'For plans whose `seats` in the settings is a function, such as one that counts the members of a team. Call it after the number has changed. The difference is billed with the next invoice.',
    route: ['POST', '/users/{owner}/subscriptions/{subscription}/count-seats'],
    role: 'support',
    effect: 'change',
    commits: 'in-steps',
    input: z.strictObject(subscriptionPathFields),
    output: subscriptionShape,
    describe: (given) => describeSubscription(given),
    async run({ owner, subscription }, context) {
      const user = await requireBillableTarget(owner, context)
      const found = await requireSubscription(user, subscription)
      const plan = findPlanOfSubscription(context.config.settings.plans, found)
      const counted = await countSeats(plan ? [plan] : [], await requireSeatOwner(owner, context))
      const quantity = plan && counted.get(plan.id)
      if (!quantity) {
        const problem =
          'The seats of this plan are not counted: its `seats` in the settings is not a function.'
        throw new AdminProblem('conflict', problem)
      }
      if (quantity !== found.quantity) await found.updateQuantity(quantity)
      return subscriptionJson(await requireSubscription(user, subscription))
    },
  }),
  defineSubscriptionChange(
    {
      name: 'billing.cancel',
      summary: 'Cancel a subscription at the end of its period',
      description:
        'Access continues until `ends_at`. Until then, `billing.resume` undoes the cancellation.',
      effect: 'change',
    },
    { path: 'cancel', fields: {} },
    (subscription) => subscription.cancel(),
  ),
  defineSubscriptionChange(
    {
      name: 'billing.cancelNow',
      summary: 'End a subscription now',
      description:
        'Access ends immediately, and nothing is refunded. The subscription cannot be resumed.',
      effect: 'irreversible',
    },
    { path: 'cancel-now', fields: {} },
    (subscription) => subscription.cancelNow(),
  ),
  defineSubscriptionChange(
    {
      name: 'billing.resume',
      summary: 'Undo a cancellation during the grace period',
      effect: 'change',
    },
    { path: 'resume', fields: {} },
    (subscription) => subscription.resume(),
  ),
  defineSubscriptionChange(
    {
      name: 'billing.extendTrial',
      summary: 'Move the end of a running trial',
      description:
        'The first charge is at the new end. Fails with `conflict` at a provider that cannot move trials.',
      effect: 'change',
    },
    { path: 'extend-trial', fields: { trial_ends_at: givenInstant } },
    (subscription, input) => subscription.extendTrial(new Date(String(input.trial_ends_at))),
  ),
  defineSubscriptionChange(
    {
      name: 'billing.applyCoupon',
      summary: 'Apply a coupon to a subscription from the next invoice on',
      description:
        'Replaces the current discounts. A coupon of 100 % makes the plan free of charge. Fails with `conflict` at a provider that has no coupons.',
      effect: 'change',
    },
    { path: 'coupon', fields: { coupon: z.string().min(1).max(255) } },
    (subscription, input) => subscription.applyCoupon(String(input.coupon)),
  ),
  defineSubscriptionChange(
    {
      name: 'billing.applyPromotionCode',
      summary: 'Apply a promotion code to a subscription from the next invoice on',
      description:
        'Replaces the current discounts. The conditions of the code are checked, as if the person or team had typed it; unknown codes count towards their limit. Fails with `conflict` at a provider that has no promotion codes.',
      effect: 'change',
    },
    { path: 'promotion-code', fields: { code: z.string().trim().min(1).max(64) } },
    (subscription, input) => subscription.applyPromotionCode(String(input.code)),
  ),
  defineSubscriptionChange(
    {
      name: 'billing.removeDiscounts',
      summary: 'Remove all discounts of a subscription from the next invoice on',
      description: 'Fails with `conflict` at a provider that has no coupons.',
      effect: 'change',
    },
    { path: 'remove-discounts', fields: {} },
    (subscription) => subscription.removeDiscounts(),
  ),
  operation({
    name: 'billing.comp',
    summary: 'Give a person or team access without payment until a date',
    description:
      "Starts, moves or (`until: null`) ends a trial that needs no card and no provider. It works with every provider, and nothing is charged at its end. A customer with a running subscription would still be charged: extend the subscription's trial or apply a coupon instead.",
    route: ['POST', '/users/{owner}/comp'],
    role: 'support',
    effect: 'change',
    needsKey: true,
    input: z.strictObject({ owner, until: givenInstant.nullable() }),
    output: z.strictObject({ ...ownerShape, until: instant.nullable() }),
    describe: ({ owner, until }) => ({ subject: describeOwner(owner), details: { until } }),
    async run({ owner, until }, context) {
      await requireOwnerTarget(owner, context)
      const user = await requireStoredOwner(owner, context)
      if (until !== null) {
        requireFuture(new Date(until), context.clock.now())
        const running = (await user.subscriptions()).find((each) => !each.ended())
        if (running) {
          throw new AdminProblem(
            'conflict',
            `The subscription ${running.name} is running and would still be charged. Extend its trial, or apply a coupon of 100 %.`,
          )
        }
      }
      await user.startGenericTrial(until === null ? null : new Date(until))
      return { ...ownerJson(owner), until: until === null ? null : new Date(until).toISOString() }
    },
  }),
]

const LONGEST_COMP = 730 * 86_400_000

function requireFuture(until: Date, now: Date): void {
  const ahead = until.getTime() - now.getTime()
  if (ahead > 0 && ahead <= LONGEST_COMP) return
  const problem = 'Expected a date in the future, at most two years ahead.'
  throw new AdminProblem('invalid-input', problem, { fields: { until: [problem] } })
}
