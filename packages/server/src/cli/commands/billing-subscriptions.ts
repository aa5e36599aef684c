import { randomUUID } from 'node:crypto'
import { formatMoney } from '@tollgate/billing'
import type { InvoiceDetailJson, InvoiceJson } from '../../admin/operations/invoices.ts'
import { SUBSCRIPTION_STATES, type SubscriptionJson } from '../../admin/operations/subscriptions.ts'
import { AdminProblem } from '../../admin/problems.ts'
import { type CommandContext, type Commands, command, type Outcome } from '../command.ts'
import { type OpenOperations, withOperations } from '../open-operations.ts'
import * as option from '../options.ts'
import { requireUserId } from '../person.ts'
import { formatTable } from '../table.ts'
import { UsageError } from '../usage-error.ts'

const USER = { name: 'user', description: 'the id or the e-mail address' }
const SUBSCRIPTION = {
  name: 'subscription',
  description: 'the id or the name, from `tollgate billing subscriptions`',
}
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
    summary: 'list subscriptions, newest first: of everybody, or of one person',
    withConfig: true,
    options: {
      user: option.text('<user>', 'only those of this person: the id or the e-mail address'),
      state: option.choice(
        SUBSCRIPTION_STATES,
        '<name>',
        `only those in this state: ${SUBSCRIPTION_STATES.join(', ')}`,
      ),
      limit: option.count('<number>', 'number of subscriptions (default 25)', LARGEST_PAGE),
      after: option.text('<cursor>', 'continue after the previous page, with its cursor'),
    },
    run({ options: { user, ...filters } }, context) {
      if (user !== null && Object.values(filters).some((value) => value !== null)) {
        throw new UsageError('--user lists all subscriptions of the person: leave out the others')
      }
      return withOperations(context, { onlyReads: true }, async (opened) => {
        const { data, next = null } =
          user === null
            ? await opened.perform<Page<SubscriptionJson>>('billing.listSubscriptions', {
                ...Object.fromEntries(
                  Object.entries(filters).filter(([, value]) => value !== null),
                ),
              })
            : await listOf(opened, await requireUserId(opened, user))
        if (next !== null) context.hint(`There are more subscriptions: add --after ${next}`)
        const lines = data.map((each) => [
          String(each.id),
          each.user_id ?? each.owner_type,
          each.name,
          each.plan,
          each.provider,
          each.states.join(' '),
          each.ends_at?.slice(0, 10) ?? '',
        ])
        const headers = ['ID', 'USER', 'NAME', 'PLAN', 'PROVIDER', 'STATES', 'ENDS']
        return { json: data, text: formatTable(headers, lines, 'There are no subscriptions') }
      })
    },
  }),
  'billing invoices': command({
    summary: 'list the invoices of a person, newest first, as the provider has them',
    withConfig: true,
    arguments: [USER],
    options: {
      limit: option.count('<number>', 'number of invoices (default 25)', LARGEST_PAGE),
      after: option.text('<cursor>', 'continue after the previous page, with its cursor'),
    },
    run: ({ args: [user = ''], options: { limit, after } }, context) =>
      withPayments(context, async (opened) => {
        const { data, next = null } = await opened.perform<Page<InvoiceJson>>(
          'billing.listInvoices',
          {
            id: await requireUserId(opened, user),
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
    arguments: [USER, SUBSCRIPTION],
    options: { now: option.flag('end access immediately, without a refund; cannot be undone') },
    run: ({ args, options: { now } }, context) =>
      changeSubscription(args, context, now ? 'billing.cancelNow' : 'billing.cancel', (changed) =>
        now || changed.ends_at === null
          ? `Ended the subscription ${changed.name}`
          : `Cancelled the subscription ${changed.name}: access ends at ${changed.ends_at}. \`tollgate billing resume\` undoes this`,
      ),
  }),
  'billing resume': command({
    summary: 'undo a cancellation while access continues',
    withConfig: true,
    arguments: [USER, SUBSCRIPTION],
    run: ({ args }, context) =>
      changeSubscription(
        args,
        context,
        'billing.resume',
        ({ name }) => `Resumed the subscription ${name}: it renews again`,
      ),
  }),
  'billing refund': command({
    summary: 'refund an invoice or another charge, fully or partially',
    withConfig: true,
    arguments: [USER, INVOICE],
    options: {
      amount: option.count(
        '<number>',
        'amount in the smallest unit of the currency, such as cents; default: all that is left',
        999_999_999,
      ),
      currency: option.text('<code>', 'currency of the amount, by default that of the invoice'),
      reason: option.choice(REASONS, '<name>', `passed on to the provider: ${REASONS.join(', ')}`),
      idempotencyKey: option.text(
        '<key>',
        'the same key repeats a refund whose outcome is unknown, and never refunds twice',
      ),
    },
    run: ({ args: [user = '', invoice = ''], options }, context) =>
      withPayments(context, async (opened) => {
        const { amount, currency, reason, idempotencyKey } = options
        if (amount === null && currency !== null) throw new UsageError('--currency needs --amount')
        const id = await requireUserId(opened, user)
        const key = idempotencyKey ?? randomUUID()
        const input = {
          id,
          invoice,
          ...(amount !== null && {
            amount: { amount, currency: currency ?? (await currencyOf(opened, id, invoice)) },
          }),
          ...(reason !== null && { refund_reason: reason }),
        }
        try {
          const made = await opened.perform<Refund>('billing.refund', input, key)
          const text = `Refunded ${formatMoney(made.amount)} of ${made.charge}: ${made.refund} (${made.status})`
          return { json: made, text }
        } catch (error) {
          if (isUnknown(error)) {
            context.hint(`To repeat this without refunding twice, add --idempotency-key ${key}`)
          }
          throw error
        }
      }),
  }),
  'billing void': command({
    summary: 'void an unpaid invoice, so that it can no longer be paid',
    withConfig: true,
    arguments: [USER, INVOICE],
    run: ({ args: [user = '', invoice = ''] }, context) =>
      withPayments(context, async (opened) => {
        const input = { id: await requireUserId(opened, user), invoice }
        const voided = await opened.perform<InvoiceJson>('billing.voidInvoice', input)
        return { json: voided, text: `Voided the invoice ${voided.number}` }
      }),
  }),
}

/** Reports missing keys of the providers first, then runs `work` with the operations. */
async function withPayments(
  context: CommandContext,
  work: (opened: OpenOperations) => Promise<Outcome>,
): Promise<Outcome> {
  await context.requireSettings(['provider_keys'])
  return withOperations(context, {}, work)
}

function listOf({ perform }: OpenOperations, id: string): Promise<Page<SubscriptionJson>> {
  return perform<Page<SubscriptionJson>>('billing.listSubscriptionsOf', { id })
}

function changeSubscription(
  [user = '', named = '']: readonly string[],
  context: CommandContext,
  operation: string,
  sentence: (changed: SubscriptionJson) => string,
): Promise<Outcome> {
  return withPayments(context, async (opened) => {
    const id = await requireUserId(opened, user)
    const { data } = await listOf(opened, id)
    const subscription = findSubscription(data, named)
    const changed = await opened.perform<SubscriptionJson>(operation, { id, subscription })
    return { json: changed, text: sentence(changed) }
  })
}

/** Finds a subscription by id, or the newest one with this name: a running one first. */
function findSubscription(all: readonly SubscriptionJson[], named: string): number {
  const alike = all.filter(({ name }) => name === named)
  const found =
    all.find(({ id }) => String(id) === named) ??
    alike.find(({ states }) => !states.includes('ended')) ??
    alike[0]
  if (found) return found.id
  const known = all.map(({ id, name }) => `${id} (${name})`).join(', ')
  throw new UsageError(
    `The person has no subscription ${JSON.stringify(named)}. ${known ? `Their subscriptions are ${known}` : 'They have none'}`,
  )
}

async function currencyOf({ perform }: OpenOperations, id: string, invoice: string) {
  try {
    return (await perform<InvoiceDetailJson>('billing.getInvoice', { id, invoice })).total.currency
  } catch (error) {
    if (!(error instanceof AdminProblem) || error.problem !== 'not-found') throw error
    throw new UsageError(
      `There is no invoice ${JSON.stringify(invoice)} of this person. If it is a charge without an invoice, add --currency`,
    )
  }
}

/** Whether the provider may have received the request although it failed. */
function isUnknown(error: unknown): boolean {
  return (
    error instanceof AdminProblem &&
    ['provider-unavailable', 'unavailable', 'unexpected', 'request-in-progress'].includes(
      error.problem,
    )
  )
}
