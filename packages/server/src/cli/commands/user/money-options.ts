import { formatDay } from '../../../dates.ts'
import {
  CHOICES,
  type OpenAmounts,
  parseChoice,
  type SubscriptionChoice,
  type SubscriptionFact,
} from '../../../users/account-billing.ts'
import {
  CHOICE_EFFECTS,
  describeOpen,
  describeSubscription,
} from '../../../users/describe-account.ts'
import { type AccountOutcome, DecisionRequired } from '../../../users/end-account.ts'
import { type CommandInput, textOption, UsageError } from '../../command.ts'

export const SUBSCRIPTION_OPTION = {
  flags: '--subscription <choice>',
  description: `what happens to a subscription that runs: ${CHOICES.join(', ')}`,
}

export function readChoice(input: CommandInput): SubscriptionChoice | null {
  const text = textOption(input, 'subscription')
  if (text === null) return null
  const choice = parseChoice(text)
  if (choice) return choice
  throw new UsageError(`--subscription is ${CHOICES.join(', ')}, not ${JSON.stringify(text)}`, {
    choices: CHOICES,
  })
}

type Action = 'disable' | 'delete'

/** Runs an operation and turns the question that it cannot answer into a message with the options that do. */
export async function orChoices<T>(action: Action, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof DecisionRequired) throw refuse(action, error)
    throw error
  }
}

function refuse(action: Action, required: DecisionRequired): UsageError {
  const { account, subscriptions, open, isDisabled } = required
  const openLines = describeOpen(open)
  const begun = isDisabled ? 'is disabled by now, and ' : ''
  const lines = [`${account.email} (${account.id}) ${begun}is not done with:`]
  for (const fact of subscriptions) lines.push(`  - the subscription ${describe(fact)}`)
  for (const line of openLines) lines.push(`  - ${line}`)
  if (subscriptions.length > 0)
    lines.push('Choose what happens to the subscription:', ...options(action, account.id))
  if (openLines.length > 0) {
    lines.push('  --void-open  void what is not billed and not paid; invoices that were paid stay')
  }
  return new UsageError(lines.join('\n'), {
    ...(subscriptions.length > 0
      ? { choices: action === 'delete' ? ['now', 'period-end'] : CHOICES }
      : {}),
    ...moneyJson({ subscriptions, ...open }),
  })
}

function describe(fact: SubscriptionFact): string {
  const until = fact.state === 'ending' && fact.endsAt ? `, until ${formatDay(fact.endsAt)}` : ''
  return describeSubscription(fact) + until
}

function options(action: Action, id: string): string[] {
  const all = CHOICES.map((choice) => [choice, CHOICE_EFFECTS[choice]] as const)
  if (action === 'disable')
    return all.map(([choice, effect]) => `  --subscription ${choice}  ${effect}`)
  return [
    `  --subscription now  ${CHOICE_EFFECTS.now} The account is deleted.`,
    `  --subscription period-end  ${CHOICE_EFFECTS['period-end']} The account is disabled now; repeat the command after that day to delete it.`,
    `To keep it, disable the account instead: tollgate user disable ${id} --subscription keep`,
  ]
}

/** Subscriptions and open amounts as `--json` prints them. */
export function moneyJson({
  subscriptions,
  usage,
  debts,
}: Partial<OpenAmounts> & { readonly subscriptions: readonly SubscriptionFact[] }) {
  return {
    subscriptions: subscriptions.map(({ endsAt, ...fact }) => ({
      ...fact,
      ends_at: endsAt?.toISOString() ?? null,
    })),
    ...(usage ? { unbilled_usage: usage } : {}),
    ...(debts ? { unpaid: debts } : {}),
  }
}

/** The outcome of an operation as `--json` prints it. */
export function outcomeJson({ account, subscriptions }: AccountOutcome) {
  return { id: account.id, email: account.email, ...moneyJson({ subscriptions }) }
}
