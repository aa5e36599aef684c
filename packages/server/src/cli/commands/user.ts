import type { JsonLinesResult } from '../../admin/lines.ts'
import type { LinkJson } from '../../admin/operations/access.ts'
import { AdminProblem } from '../../admin/problems.ts'
import { formatDay } from '../../dates.ts'
import type { PersonEntry } from '../../storage/read-person.ts'
import {
  type OpenAmounts,
  SUBSCRIPTION_CHOICES,
  type SubscriptionFact,
} from '../../users/account-billing.ts'
import {
  describeChoice,
  describeOpen,
  describeOutcome,
  describeSubscription,
} from '../../users/describe-account.ts'
import { type AccountOutcome, DecisionRequired } from '../../users/end-account.ts'
import { formatExport } from '../../users/export-account.ts'
import { requireEmail } from '../../users/parse.ts'
import { createPasswords } from '../../users/passwords.ts'
import { ROLES, type Role } from '../../users/roles.ts'
import { type Account, accountJson } from '../../users/user.ts'
import { createUsers } from '../../users/users.ts'
import { type CommandContext, type CommandResult, type Commands, command } from '../command.ts'
import { withTables } from '../open.ts'
import { type OpenOperations, withOperations } from '../open-operations.ts'
import * as option from '../options.ts'
import { requireAccount } from '../person.ts'
import { formatTable } from '../table.ts'
import { UsageError } from '../usage-error.ts'

const withConfig =
  'Accounts belong to the application: change them with its own code, and end the tokens of a person with `token revoke --user <id>`'

export const ACCOUNT_ARGUMENT = { name: 'user', description: 'the id or the e-mail address' }
const password = option.text(
  '<text>',
  'password; safer on standard input, because process lists show command lines',
)

const subscription = option.choice(
  SUBSCRIPTION_CHOICES,
  '<choice>',
  `what happens to a running subscription: ${SUBSCRIPTION_CHOICES.join(', ')}`,
)

const NO_ROLE = 'none'
const PAGE = 100
const LARGEST_PAGE = 10_000

type SubscriptionJson = Omit<SubscriptionFact, 'endsAt'> & { readonly ends_at: string | null }

/** The output of the operations that end an account. */
interface EndedAccount {
  readonly state: AccountOutcome['state']
  readonly subscriptions: readonly SubscriptionJson[]
  readonly voided?: {
    readonly unbilled_usage: OpenAmounts['usage']
    readonly unpaid: OpenAmounts['debts']
  }
}

export const userCommands: Commands = {
  'user create': command({
    summary: 'create an account',
    withConfig,
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
      return withOperations(context, { makesTables: true }, async ({ perform }) => {
        const input = { email: address, password, name }
        const { id, email } = await perform<{ id: string; email: string }>('users.create', input)
        if (role !== null) await perform('users.setRole', { id, role })
        const as = role === null ? '' : `, an operator with the role ${role}`
        return { json: { id, email }, text: `Created the user ${id} (${email})${as}` }
      })
    },
  }),
  'user invite': command({
    summary: 'send a person an email with which they create an account',
    withConfig,
    arguments: [{ name: 'email', description: 'the address of the person' }],
    options: { name: option.text('<text>', 'proposed on the page that the link opens') },
    async run({ args, options: { name } }, context) {
      const [given = ''] = args
      requireEmail(given)
      return withOperations(context, { makesTables: true }, async ({ perform }) => {
        const { email } = await perform<{ email: string }>('users.invite', { email: given, name })
        return { json: { email }, text: `The invitation will be sent to ${email}` }
      })
    },
  }),
  'user list': command({
    summary: 'list the accounts, newest first',
    withConfig,
    options: {
      limit: option.count('<number>', `number of accounts (default ${PAGE})`, LARGEST_PAGE),
      after: option.text('<id>', 'continue after this account, the last of the previous page'),
      role: option.choice(ROLES, '<role>', `only operators with this role: ${ROLES.join(', ')}`),
    },
    async run({ options: { limit: given, after: before, role } }, context) {
      if (before !== null && !/^[1-9]\d{0,14}$/.test(before)) {
        throw new UsageError(`--after expects the id of a user, such as 42, not ${before}`)
      }
      const limit = given ?? PAGE
      const config = await context.config([])
      return withTables(config, ['service'], async (database) => {
        const users = createUsers({ database, passwords: createPasswords() })
        const found = await users.page({ ...(role && { role }), before, limit: limit + 1 })
        const rows = found.slice(0, limit).map(accountJson)
        const last = rows.at(-1)
        if (found.length > limit && last) {
          context.hint(`There are more accounts: add --after ${last.id}`)
        }
        const lines = rows.map(({ id, email, name, role, created_at, disabled_at }) => [
          id,
          email,
          name ?? '',
          role ?? '',
          created_at.slice(0, 10),
          disabled_at === null ? '' : 'disabled',
        ])
        const headers = ['ID', 'EMAIL', 'NAME', 'ROLE', 'CREATED', 'STATE']
        return { json: rows, text: formatTable(headers, lines, 'There are no users') }
      })
    },
  }),
  'user password': command({
    summary: 'set a new password for an account; ends its sessions and tokens',
    withConfig,
    arguments: [ACCOUNT_ARGUMENT],
    options: { password },
    run: ({ args, options }, context) =>
      withAccount(args, context, async ({ id, email }, { perform }) => {
        const password = await readPassword(options.password, context)
        await perform('users.setPassword', { id, password })
        const text = `Changed the password of ${email} (${id}). All their sessions and tokens have ended. Passkeys and accounts at other providers still work.`
        return { json: { id, email }, text }
      }),
  }),
  'user role': command({
    summary: 'make a person an operator, or remove the role; ends their sessions and tokens',
    withConfig,
    arguments: [
      ACCOUNT_ARGUMENT,
      { name: 'role', description: `${ROLES.join(', ')} or ${NO_ROLE}` },
    ],
    run: ({ args }, context) => {
      const role = parseNewRole(args[1] ?? '')
      return withAccount(args, context, async ({ id, email }, { perform }) => {
        await perform('users.setRole', { id, role })
        const now = role === null ? 'is not an operator' : `is an operator with the role ${role}`
        const text = `${email} (${id}) ${now}. All their sessions and tokens have ended.`
        return { json: { id, email, role }, text }
      })
    },
  }),
  'user sign-out': command({
    summary: 'end all sessions and tokens of a person, who may sign in again',
    withConfig,
    arguments: [ACCOUNT_ARGUMENT],
    run: ({ args }, context) =>
      withAccount(args, context, async ({ id, email }, { perform }) => {
        await perform('users.signOut', { id })
        const text = `All sessions and tokens of ${email} (${id}) have ended.`
        return { json: { id, email, signed_out: true }, text }
      }),
  }),
  'user reset-factors': command({
    summary: 'remove all second factors of an account; ends its sessions and tokens',
    withConfig,
    arguments: [ACCOUNT_ARGUMENT],
    run: ({ args }, context) =>
      withAccount(args, context, async ({ id, email }, { perform }) => {
        await perform('users.resetFactors', { id })
        const text = `Removed all second factors and recovery codes of ${email} (${id}). All their sessions and tokens have ended. They are told at the next sign-in.`
        return { json: { id, email, factors_reset: true }, text }
      }),
  }),
  'user links': command({
    summary: 'list the accounts at other providers that a person signs in with',
    withConfig,
    arguments: [ACCOUNT_ARGUMENT],
    run: ({ args }, context) =>
      withAccount(args, context, async ({ id }, { perform }) => {
        const { data } = await perform<{ data: readonly LinkJson[] }>('users.listLinks', { id })
        const lines = data.map((link) => [
          link.id,
          link.provider,
          link.subject,
          link.email ?? '',
          link.used_at.slice(0, 10),
        ])
        const headers = ['ID', 'PROVIDER', 'SUBJECT', 'EMAIL', 'LAST USED']
        return { json: data, text: formatTable(headers, lines, 'No other account is linked') }
      }),
  }),
  'user unlink': command({
    summary: 'remove the link of a person with an account at another provider',
    withConfig,
    arguments: [ACCOUNT_ARGUMENT],
    options: { link: option.required('<id>', 'the link, from user links') },
    run: ({ args, options: { link } }, context) =>
      withAccount(args, context, async ({ id, email }, { perform }) => {
        await perform('users.unlink', { id, link })
        return { json: { id, email, unlinked: link }, text: `Removed a link of ${email} (${id}).` }
      }),
  }),
  'user disable': command({
    summary: 'lock an account; its sessions and tokens end, on every process within a second',
    withConfig,
    arguments: [ACCOUNT_ARGUMENT],
    options: { subscription },
    run: ({ args, options: { subscription } }, context) =>
      withAccount(args, context, async (account, { perform }) => {
        const { id, email } = account
        const outcome = await withChoicesError(
          'disable',
          perform<EndedAccount>('users.disable', { id, subscription }),
        )
        const text = `Disabled ${email} (${id}). All their sessions and tokens have ended.`
        return reportOutcome(account, outcome, text, { disabled: true })
      }),
  }),
  'user enable': command({
    summary: 'let a disabled account sign in again',
    withConfig,
    arguments: [ACCOUNT_ARGUMENT],
    run: ({ args }, context) =>
      withAccount(args, context, async (account, { perform }) => {
        const { id, email } = account
        const outcome = await perform<EndedAccount>('users.enable', { id })
        const text = `${email} (${id}) may sign in again.`
        return reportOutcome(account, outcome, text, { disabled: false })
      }),
  }),
  'user export': command({
    summary: 'print everything that is stored about a person as one JSON document',
    withConfig,
    arguments: [ACCOUNT_ARGUMENT],
    run: ({ args }, context) =>
      withAccount(args, context, async ({ id }, { perform, database }) => {
        const { pages } = await perform<JsonLinesResult>('users.export', { id })
        const entries = pages as AsyncIterable<readonly PersonEntry[]>
        for await (const text of formatExport(entries, database.clock.now())) context.print(text)
        return null
      }),
  }),
  'user delete': command({
    summary: 'delete an account permanently; ends its sessions, tokens and approvals',
    withConfig,
    arguments: [ACCOUNT_ARGUMENT],
    options: {
      subscription,
      voidOpen: option.flag('void unbilled usage and unpaid invoices'),
    },
    run: ({ args, options: { subscription, voidOpen } }, context) =>
      withAccount(args, context, async (account, { perform }) => {
        const { id, email } = account
        const input = { id, subscription, void_open: voidOpen }
        const outcome = await withChoicesError(
          'delete',
          perform<EndedAccount>('users.delete', input),
        )
        const deleted = outcome.state === 'deleted'
        const text = deleted
          ? `Deleted ${email} (${id}) with all sessions, tokens and approvals. Applications they registered stay: \`tollgate client list --user ${id}\`. Invoices stay at the provider.`
          : `Not deleted yet: ${email} (${id}) is disabled, with all sessions and tokens ended. Repeat this when the subscription has ended.`
        const { voided } = outcome
        return reportOutcome(account, outcome, text, { deleted, voided })
      }),
  }),
}

/** Parses the role to give. `null` takes the role away. */
function parseNewRole(roleText: string): Role | null {
  if (roleText === NO_ROLE) return null
  const role = ROLES.find((each) => each === roleText)
  if (role !== undefined) return role
  const choices = [...ROLES, NO_ROLE]
  throw new UsageError(
    `The role must be one of ${choices.join(', ')}, not ${JSON.stringify(roleText)}`,
    { choices },
  )
}

async function readPassword(passwordFlag: string | null, context: CommandContext): Promise<string> {
  const password = passwordFlag ?? (await context.readInput())
  if (password === null) {
    throw new UsageError('Give --password <text>, or send it on standard input: echo … | tollgate')
  }
  if (password === '')
    throw new UsageError('Standard input contains no password. Send one, or give --password')
  return password
}

/** Finds the account by id or e-mail address, and runs `work` on it. */
export function withAccount<Result extends CommandResult | null>(
  args: readonly string[],
  context: CommandContext,
  work: (account: Account, opened: OpenOperations) => Promise<Result>,
): Promise<Result> {
  return withOperations(context, {}, async (opened) =>
    work(await requireAccount(opened.users, args), opened),
  )
}

type Action = 'disable' | 'delete'

/**
 * Runs an operation. If it needs a decision from the operator, throws a message that lists the
 * options to choose from.
 */
async function withChoicesError<T>(action: Action, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    const cause = error instanceof AdminProblem ? error.cause : null
    if (cause instanceof DecisionRequired) throw createChoicesError(action, cause)
    throw error
  }
}

function createChoicesError(action: Action, required: DecisionRequired): UsageError {
  const { account, subscriptions, open, isDisabled } = required
  const openLines = describeOpen(open)
  const begun = isDisabled ? 'is now disabled, but ' : ''
  const lines = [`${account.email} (${account.id}) ${begun}still has:`]
  for (const fact of subscriptions) lines.push(`  - the subscription ${describe(fact)}`)
  for (const line of openLines) lines.push(`  - ${line}`)
  if (subscriptions.length > 0)
    lines.push('Choose what happens to the subscription:', ...listChoiceFlags(action, account.id))
  if (openLines.length > 0) {
    lines.push('  --void-open  void unbilled usage and unpaid invoices; paid invoices stay')
  }
  return new UsageError(lines.join('\n'), {
    ...(subscriptions.length > 0
      ? { choices: action === 'delete' ? ['now', 'period-end'] : SUBSCRIPTION_CHOICES }
      : {}),
    ...toMoneyJson({ subscriptions, ...open }),
  })
}

function describe(fact: SubscriptionFact): string {
  const until = fact.state === 'ending' && fact.endsAt ? `, until ${formatDay(fact.endsAt)}` : ''
  return describeSubscription(fact) + until
}

function listChoiceFlags(action: Action, id: string): string[] {
  const all = SUBSCRIPTION_CHOICES.map((choice) => [choice, describeChoice(choice)] as const)
  if (action === 'disable')
    return all.map(([choice, effect]) => `  --subscription ${choice}  ${effect}`)
  return [
    `  --subscription now  ${describeChoice('now')} The account is deleted.`,
    `  --subscription period-end  ${describeChoice('period-end')} The account is disabled now; repeat the command after that day to delete it.`,
    `To keep it, disable the account instead: tollgate user disable ${id} --subscription keep`,
  ]
}

/** Subscriptions and open amounts as `--json` prints them. */
function toMoneyJson({
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

function reportOutcome(
  { id, email }: Account,
  { state, subscriptions, voided }: EndedAccount,
  sentence: string,
  more: object,
): CommandResult {
  const outcome: AccountOutcome = {
    account: { id, email },
    state,
    subscriptions: subscriptions.map(({ ends_at: ends, ...fact }) => ({
      ...fact,
      endsAt: ends === null ? null : new Date(ends),
    })),
    voided: { usage: voided?.unbilled_usage ?? [], debts: voided?.unpaid ?? [] },
  }
  return {
    json: { id, email, subscriptions, ...more },
    text: [sentence, ...describeOutcome(outcome)].join('\n'),
  }
}
