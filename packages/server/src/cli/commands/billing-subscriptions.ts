import { formatMoney } from '@tollgate/billing'
import type { InvoiceDetailJson, InvoiceJson } from '../../admin/operations/invoices.ts'
import { SUBSCRIPTION_STATES, type SubscriptionJson } from '../../admin/operations/subscriptions.ts'
import { AdminProblem } from '../../admin/problems.ts'
import { chooseIdempotencyKey, parseAmount } from '../amount.ts'
import { type Commands, command } from '../command.ts'
import { type OpenOperations, withOperations } from '../open-operations.ts'
import * as option from '../options.ts'
import { OWNER_OPTION, requireOwner, USER_ARGUMENT } from '../owner.ts'
import { changeSubscription, SUBSCRIPTION_OPTION, withOwner } from '../subscription.ts'
import { formatTable } from '../table.ts'
import { UsageError } from '../usage-error.ts'

const INVOICE = {
  name: 'invoice',
  description: "the provider's id, from `tollgate billing invoices`",
}
const LARGEST_PAGE = 100
const REASONS = ['duplicate', 'fraudulent', 'requested_by_customer'] as const

interface Page<Entry> {
  readonly data: readonly Entry[]
  readonly next?: string | null
}

interface Refund {
  readonly refund: string
  readonly charge: string
  readonly amount: { readonly amount: number; readonly currency: string }
  readonly status: string
}

export const subscriptionCommands: Commands = {
  'billing subscriptions': command({
    summary: 'list subscriptions, newest first: of everybody, or of one owner',
    withConfig: true,
    options: {
      user: option.text('<user>', 'only those of this person: the id or the e-mail address'),
      owner: option.text('<owner>', 'only those of this owner, such as team:7'),
      state: option.choice(
        SUBSCRIPTION_STATES,
        '<name>',
        `only those in this state: ${SUBSCRIPTION_STATES.join(', ')}`,
      ),
      limit: option.count('<number>', 'number of subscriptions (default 25)', LARGEST_PAGE),
      after: option.text('<cursor>', 'continue after the previous page, with its cursor'),
    },
    run({ options: { user, owner, ...filters } }, context) {
      const isOfOne = user !== null || owner !== null
      if (isOfOne && Object.values(filters).some((value) => value !== null)) {
        const flag = user === null ? '--owner' : '--user'
        throw new UsageError(`${flag} lists all subscriptions: leave out the others`)
      }
      if (user !== null && owner !== null) throw new UsageError('Give --user or --owner')
      return withOperations(context, { onlyReads: true }, async (opened) => {
        const { data, next = null } = !isOfOne
          ? await opened.perform<Page<SubscriptionJson>>('billing.listSubscriptions', {
              ...Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== null)),
            })
          : await listOf(opened, await requireOwner(opened, { user: user ?? '', owner }))
        if (next !== null) context.hint(`There are more subscriptions: add --after ${next}`)
        const lines = data.map((each) => [
          String(each.id),
          each.user_id ?? `${each.owner_type}:${each.owner_id}`,
          each.name,
          each.plan,
          each.provider,
          each.states.join(' '),
          each.ends_at?.slice(0, 10) ?? '',
        ])
        const headers = ['ID', 'OWNER', 'NAME', 'PLAN', 'PROVIDER', 'STATES', 'ENDS']
        return { json: data, text: formatTable(headers, lines, 'There are no subscriptions') }
      })
    },
  }),
  'billing invoices': command({
    summary:
      'list the invoices of a person or another owner, newest first, as the provider has them',
    withConfig: true,
    arguments: [USER_ARGUMENT],
    options: {
      limit: option.count('<number>', 'number of invoices (default 25)', LARGEST_PAGE),
      after: option.text('<cursor>', 'continue after the previous page, with its cursor'),
      owner: OWNER_OPTION,
    },
    run: ({ args: [user = ''], options: { limit, after, owner } }, context) =>
      withOwner({ user, owner }, context, async (named, opened) => {
        const { data, next = null } = await opened.perform<Page<InvoiceJson>>(
          'billing.listInvoices',
          {
            owner: named.owner,
            ...(limit !== null && { limit }),
            ...(after !== null && { after }),
          },
        )
        if (next !== null) context.hint(`There are more invoices: add --after ${next}`)
        const lines = data.map(({ id, number, date, status, total }) => [
          id,
          number,
          date.slice(0, 10),
          status,
          formatMoney(total),
        ])
        const headers = ['ID', 'NUMBER', 'DATE', 'STATUS', 'TOTAL']
        return { json: data, text: formatTable(headers, lines, 'There are no invoices') }
      }),
  }),
  'billing cancel': command({
    summary: 'cancel a subscription at the end of its period, or immediately',
    withConfig: true,
    arguments: [USER_ARGUMENT],
    options: {
      now: option.flag('end access immediately, without a refund; cannot be undone'),
      subscription: SUBSCRIPTION_OPTION,
      owner: OWNER_OPTION,
    },
    run: ({ args: [user = ''], options: { now, subscription, owner } }, context) =>
      changeSubscription({ user, owner, subscription }, context, {
        operation: now ? 'billing.cancelNow' : 'billing.cancel',
        describe: ({ ends_at: endsAt }) =>
          now || endsAt === null
            ? 'has ended'
            : `is cancelled: access ends at ${endsAt}. \`tollgate billing resume\` undoes this`,
      }),
  }),
  'billing resume': command({
    summary: 'undo a cancellation while access continues',
    withConfig: true,
    arguments: [USER_ARGUMENT],
    options: { subscription: SUBSCRIPTION_OPTION, owner: OWNER_OPTION },
    run: ({ args: [user = ''], options: { subscription, owner } }, context) =>
      changeSubscription({ user, owner, subscription }, context, {
        operation: 'billing.resume',
        describe: () => 'is resumed: it renews again',
      }),
  }),
  'billing refund': command({
    summary: 'refund an invoice or another charge, fully or partially',
    withConfig: true,
    arguments: [USER_ARGUMENT, INVOICE],
    options: {
      amount: option.text(
        '<amount>',
        'part to refund, such as 12.50; without it, all that is left',
      ),
      currency: option.text('<code>', 'currency of the amount, by default that of the invoice'),
      reason: option.choice(REASONS, '<name>', `passed on to the provider: ${REASONS.join(', ')}`),
      idempotencyKey: option.text(
        '<key>',
        'idempotency key; repeat an interrupted command with the same key',
      ),
      owner: OWNER_OPTION,
    },
    run: ({ args: [user = '', invoice = ''], options }, context) =>
      withOwner({ user, owner: options.owner }, context, async ({ owner }, opened) => {
        const { amount, currency, reason, idempotencyKey } = options
        if (amount === null && currency !== null) throw new UsageError('--currency needs --amount')
        const input = {
          owner,
          invoice,
          ...(amount !== null && {
            amount: parseAmount(amount, currency ?? (await currencyOf(opened, owner, invoice))),
          }),
          ...(reason !== null && { refund_reason: reason }),
        }
        const key = chooseIdempotencyKey(idempotencyKey, context)
        const made = await opened.perform<Refund>('billing.refund', input, key)
        const text = `Refunded ${formatMoney(made.amount)} of ${made.charge}: ${made.refund} (${made.status})`
        return { json: made, text }
      }),
  }),
  'billing void': command({
    summary: 'void an unpaid invoice, so that it can no longer be paid',
    withConfig: true,
    arguments: [USER_ARGUMENT, INVOICE],
    options: { owner: OWNER_OPTION },
    run: ({ args: [user = '', invoice = ''], options }, context) =>
      withOwner({ user, owner: options.owner }, context, async ({ owner }, opened) => {
        const input = { owner, invoice }
        const voided = await opened.perform<InvoiceJson>('billing.voidInvoice', input)
        return { json: voided, text: `Voided the invoice ${voided.number}` }
      }),
  }),
}

function listOf(
  { perform }: OpenOperations,
  { owner }: { readonly owner: string },
): Promise<Page<SubscriptionJson>> {
  return perform<Page<SubscriptionJson>>('billing.listSubscriptionsOf', { owner })
}

async function currencyOf({ perform }: OpenOperations, owner: string, invoice: string) {
  try {
    return (await perform<InvoiceDetailJson>('billing.getInvoice', { owner, invoice })).total
      .currency
  } catch (error) {
    if (!(error instanceof AdminProblem) || error.problem !== 'not-found') throw error
    throw new UsageError(
      `There is no invoice ${JSON.stringify(invoice)} of this owner. If it is a charge without an invoice, add --currency`,
    )
  }
}
