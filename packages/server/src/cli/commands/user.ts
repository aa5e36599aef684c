import { formatDay } from '../../dates.ts'
import { CHOICES, type OpenAmounts, type SubscriptionFact } from '../../users/account-billing.ts'
import {
  describeChoice,
  describeOpen,
  describeOutcome,
  describeSubscription,
} from '../../users/describe-account.ts'
import {
  type AccountOutcome,
  type BillingAccess,
  DecisionRequired,
  deleteAccount,
  disableAccount,
  enableAccount,
  setPassword,
} from '../../users/end-account.ts'
import { requireEmail } from '../../users/parse.ts'
import { createPasswords } from '../../users/passwords.ts'
import { ROLES } from '../../users/roles.ts'
import { type Account, accountJson } from '../../users/user.ts'
import { createUsers, type UserAccounts } from '../../users/users.ts'
import { type CommandContext, type Commands, command, type Outcome } from '../command.ts'
import { migrateOwn, type OpenCore, withCore, withDatabase, withTables } from '../open.ts'
import { withBillingAccess } from '../open-billing.ts'
import * as option from '../options.ts'
import { UsageError } from '../usage-error.ts'

const ACCOUNT = { name: 'user', description: 'the id or the e-mail address' }
const password = option.text(
  '<text>',
  'better sent on standard input, which process lists do not show',
)

const subscription = option.choice(
  CHOICES,
  '<choice>',
  `what happens to a running subscription: ${CHOICES.join(', ')}`,
)

export const userCommands: Commands = {
  'user create': command({
    summary: 'create an account',
    options: {
      email: option.required('<address>', 'to sign in with'),
      password,
      name: option.text('<text>', 'shown on the pages'),
      role: option.choice(ROLES, '<role>', `make the person an operator: ${ROLES.join(', ')}`),
    },
    async run({ options: { email: address, name, role, ...given } }, context) {
      // Validates the address before a person types a password.
      requireEmail(address)
      const password = await readPassword(given.password, context)
      const config = await context.config([])
      return withDatabase(config, async (database) => {
        await migrateOwn(database)
        const users = createUsers({ database, passwords: createPasswords() })
        const { id, email } = await users.create({ email: address, password, name, role })
        return { json: { id, email }, text: `Created the user ${id} (${email})` }
      })
    },
  }),
  'user list': command({
    summary: 'list the accounts',
    async run(_input, context) {
      const config = await context.config([])
      return withTables(config, ['service'], async (database) => {
        const users = createUsers({ database, passwords: createPasswords() })
        const rows = (await users.list()).map(accountJson)
        const lines = rows.map(({ id, email, name, role, disabled_at }) => {
          const states = [...(role ? [role] : []), ...(disabled_at ? ['disabled'] : [])]
          return [id.padEnd(8), email.padEnd(40), (name ?? '').padEnd(24), states.join(', ')]
            .join('')
            .trimEnd()
        })
        return { json: rows, text: lines.join('\n') || 'There are no users' }
      })
    },
  }),
  'user password': command({
    summary: 'set a new password for an account; its sessions and tokens end',
    arguments: [ACCOUNT],
    options: { password },
    run: ({ args, options }, context) =>
      withCore(context, {}, async (core) => {
        const { id, email } = await requireAccount(core.users, args)
        await setPassword(core, id, await readPassword(options.password, context))
        const text = `Changed the password of ${email} (${id}). All their sessions and tokens have ended.`
        return { json: { id, email }, text }
      }),
  }),
  'user disable': command({
    summary: 'lock an account; its sessions and tokens end, on every process within a second',
    arguments: [ACCOUNT],
    options: { subscription },
    run: ({ args, options: { subscription: choice } }, context) =>
      withAccount(args, context, async (account, core, billing) => {
        const outcome = await orListChoices(
          'disable',
          disableAccount(core, billing, account, { choice }),
        )
        const { email, id } = account
        const text = `Disabled ${email} (${id}). All their sessions and tokens have ended.`
        return reportOutcome(outcome, text, { disabled: true })
      }),
  }),
  'user enable': command({
    summary: 'let a disabled account sign in again',
    arguments: [ACCOUNT],
    run: ({ args }, context) =>
      withAccount(args, context, async (account, core, billing) => {
        const outcome = await enableAccount(core, billing, account)
        const text = `${account.email} (${account.id}) may sign in again.`
        return reportOutcome(outcome, text, { disabled: false })
      }),
  }),
  'user delete': command({
    summary: 'delete an account permanently; its sessions, tokens and approvals end',
    arguments: [ACCOUNT],
    options: {
      subscription,
      voidOpen: option.flag('void unbilled usage and unpaid invoices'),
    },
    run({ args, options: { subscription: choice, voidOpen } }, context) {
      const decisions = { choice, voidOpen }
      return withAccount(args, context, async (account, core, billing) => {
        const outcome = await orListChoices(
          'delete',
          deleteAccount(core, billing, account, decisions),
        )
        const deleted = outcome.state === 'deleted'
        const { usage, debts } = outcome.voided
        const { email, id } = account
        const text = deleted
          ? `Deleted ${email} (${id}) with all sessions, tokens and approvals. Applications they registered stay: \`tollgate client list --user ${id}\`. Invoices stay at the provider.`
          : `Not deleted yet: ${email} (${id}) is disabled, with all sessions and tokens ended. Repeat this when the subscription has ended.`
        return reportOutcome(outcome, text, {
          deleted,
          voided: { unbilled_usage: usage, unpaid: debts },
        })
      })
    },
  }),
}

async function requireAccount(
  users: UserAccounts,
  [named = '']: readonly string[],
): Promise<Account> {
  const account = await users.findAccount(named)
  if (account) return account
  throw new UsageError(
    `There is no user ${JSON.stringify(named)}: give an id or an e-mail address that \`tollgate user list\` shows`,
  )
}

async function readPassword(given: string | null, context: CommandContext): Promise<string> {
  const password = given ?? (await context.readInput())
  if (password === null) {
    throw new UsageError('Give --password <text>, or send it on standard input: echo … | tollgate')
  }
  if (password === '')
    throw new UsageError('Standard input contains no password. Send one, or give --password')
  return password
}

/** Finds the account by id or e-mail address, and runs `work` on it with access to billing. */
function withAccount(
  args: readonly string[],
  context: CommandContext,
  work: (account: Account, core: OpenCore, billing: BillingAccess) => Promise<Outcome>,
): Promise<Outcome> {
  return withCore(context, {}, async (core) => {
    const account = await requireAccount(core.users, args)
    return withBillingAccess(context, core, (billing) => work(account, core, billing))
  })
}

type Action = 'disable' | 'delete'

/**
 * Runs an operation. If it needs a decision from the operator, throws a message that lists the
 * options to choose from.
 */
async function orListChoices<T>(action: Action, work: Promise<T>): Promise<T> {
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
  const begun = isDisabled ? 'is disabled by now, but ' : ''
  const lines = [`${account.email} (${account.id}) ${begun}still has:`]
  for (const fact of subscriptions) lines.push(`  - the subscription ${describe(fact)}`)
  for (const line of openLines) lines.push(`  - ${line}`)
  if (subscriptions.length > 0)
    lines.push('Choose what happens to the subscription:', ...options(action, account.id))
  if (openLines.length > 0) {
    lines.push('  --void-open  void unbilled usage and unpaid invoices; paid invoices stay')
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
  const all = CHOICES.map((choice) => [choice, describeChoice(choice)] as const)
  if (action === 'disable')
    return all.map(([choice, effect]) => `  --subscription ${choice}  ${effect}`)
  return [
    `  --subscription now  ${describeChoice('now')} The account is deleted.`,
    `  --subscription period-end  ${describeChoice('period-end')} The account is disabled now; repeat the command after that day to delete it.`,
    `To keep it, disable the account instead: tollgate user disable ${id} --subscription keep`,
  ]
}

/** Subscriptions and open amounts as `--json` prints them. */
function moneyJson({
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

function reportOutcome(outcome: AccountOutcome, sentence: string, more: object): Outcome {
  const { account, subscriptions } = outcome
  const { id, email } = account
  return {
    json: { id, email, ...moneyJson({ subscriptions }), ...more },
    text: [sentence, ...describeOutcome(outcome)].join('\n'),
  }
}
