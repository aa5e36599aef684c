import { formatMoney } from '@tollgate/billing'
import { chooseIdempotencyKey, parseAmount } from '../amount.ts'
import { type CommandContext, type CommandResult, type Commands, command } from '../command.ts'
import { withOperations } from '../open-operations.ts'
import * as option from '../options.ts'
import { OWNER_OPTION, requireOwner, USER_ARGUMENT } from '../owner.ts'
import {
  changeSubscription,
  type OwnerChoice,
  SUBSCRIPTION_OPTION,
  withOwner,
} from '../subscription.ts'
import { UsageError } from '../usage-error.ts'

interface MoneyJson {
  readonly amount: number
  readonly currency: string
}

interface BalanceEntry {
  readonly entry: string
  readonly amount: MoneyJson
  readonly balance: MoneyJson
}

const ENTRY_OPTIONS = {
  amount: option.required('<amount>', 'such as 12.50'),
  currency: option.text('<code>', "currency of the amount, by default that of the owner's balance"),
  description: option.text('<text>', 'text that the owner sees'),
  idempotencyKey: option.text(
    '<key>',
    'idempotency key; repeat an interrupted command with the same key',
  ),
  owner: OWNER_OPTION,
}

/** Commands that give an owner something: free access, a longer trial, or credit. */
export const giftCommands: Commands = {
  'billing comp': command({
    summary: 'give a person or another owner access without payment until a date, or end it',
    withConfig: true,
    arguments: [USER_ARGUMENT],
    options: {
      until: option.date('<date>', 'when the free access ends, at most two years from now'),
      end: option.flag('end the free access now'),
      owner: OWNER_OPTION,
    },
    async run({ args: [user = ''], options: { until, end, owner: other } }, context) {
      if ((until === null) === !end) throw new UsageError('Give either --until or --end')
      return withOperations(context, {}, async (opened) => {
        const { owner, label } = await requireOwner(opened, { user, owner: other })
        const comped = await opened.perform<{ until: string | null }>(
          'billing.comp',
          { owner, until: until?.toISOString() ?? null },
          // A repeat has no second effect, so the key is not shown.
          chooseIdempotencyKey(null, { hint() {} }),
        )
        const text =
          comped.until === null
            ? `${label} has no free access any more.`
            : `${label} has access without payment until ${comped.until}.`
        return { json: comped, text }
      })
    },
  }),
  'billing extend-trial': command({
    summary: 'move the end of the trial of a subscription, and with it the first charge',
    withConfig: true,
    arguments: [USER_ARGUMENT],
    options: {
      until: option.date('<date>', 'the new end of the trial; required'),
      subscription: SUBSCRIPTION_OPTION,
      owner: OWNER_OPTION,
    },
    async run({ args: [user = ''], options: { until, ...options } }, context) {
      if (until === null) throw new UsageError('Give --until, the new end of the trial')
      return changeSubscription({ user, ...options }, context, {
        operation: 'billing.extendTrial',
        input: { trial_ends_at: until.toISOString() },
        describe: ({ trial_ends_at: endsAt }) => `is on trial until ${endsAt}`,
      })
    },
  }),
  'billing credit': command({
    summary: 'give a person or another owner credit, which is applied to the next invoices',
    withConfig: true,
    arguments: [USER_ARGUMENT],
    options: {
      ...ENTRY_OPTIONS,
      paid: option.flag('the credit is not a gift: a payment is behind it'),
    },
    run: ({ args: [user = ''], options: { paid, ...entry } }, context) =>
      addEntry({ user, ...entry }, context, { operation: 'billing.credit', gift: !paid }),
  }),
  'billing debit': command({
    summary: 'take back credit, or collect an amount with the next invoice',
    withConfig: true,
    arguments: [USER_ARGUMENT],
    options: ENTRY_OPTIONS,
    run: ({ args: [user = ''], options }, context) =>
      addEntry({ user, ...options }, context, { operation: 'billing.debit' }),
  }),
}

interface NewEntry extends OwnerChoice {
  readonly amount: string
  readonly currency: string | null
  readonly description: string | null
  readonly idempotencyKey: string | null
}

/** Adds an entry to the balance of an owner, and prints the new balance. */
function addEntry(
  { amount, currency, description, idempotencyKey, ...chosen }: NewEntry,
  context: CommandContext,
  { operation, ...more }: { readonly operation: string; readonly gift?: boolean },
): Promise<CommandResult> {
  return withOwner(chosen, context, async ({ owner, label }, opened) => {
    const { balance } = await opened.perform<{ balance: MoneyJson | null }>('billing.getCustomer', {
      owner,
    })
    const code = currency ?? balance?.currency
    // Without a balance, the operation says why there is none.
    const input = { owner, amount: parseAmount(amount, code ?? 'usd'), ...more }
    const made = await opened.perform<BalanceEntry>(
      operation,
      { ...input, ...(description !== null && { description }) },
      chooseIdempotencyKey(idempotencyKey, context),
    )
    const text = `Entered ${formatMoney(made.amount)} for ${label}: ${made.entry}. The balance is now ${formatMoney(made.balance)}.`
    return { json: made, text }
  })
}
