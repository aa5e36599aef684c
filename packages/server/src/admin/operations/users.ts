import { z } from 'zod'
import { textFor } from '../../messages/messages.ts'
import {
  type OpenAmounts,
  SUBSCRIPTION_CHOICES,
  type SubscriptionFact,
} from '../../users/account-billing.ts'
import {
  deleteAccount,
  disableAccount,
  enableAccount,
  endSignIns,
  setPassword,
} from '../../users/end-account.ts'
import { exportAccount } from '../../users/export-account.ts'
import { parsePerson } from '../../users/parse.ts'
import { outranks, ROLES } from '../../users/roles.ts'
import type { Account } from '../../users/user.ts'
import type { AuditDescription } from '../audit/described.ts'
import { JsonLinesResult } from '../lines.ts'
import { type Operation, type OperationContext, operation } from '../operation.ts'
import { AdminProblem, notFound } from '../problems.ts'
import { instant, nameSchema, pagedFields, pageShape, readPage, userId } from './fields.ts'

const role = z.enum(ROLES)

const accountShape = z.strictObject({
  id: userId,
  email: z.string(),
  name: z.string().nullable(),
  role: role
    .nullable()
    .describe('Role of the person as an operator. `null` if the person is not an operator'),
  locale: z.string().nullable().describe('The language that the person chose'),
  created_at: instant,
  disabled_at: instant.nullable(),
  provider: z.string().nullable().describe('The payment provider where the person is a customer'),
})
nameSchema('User', accountShape)

const subscriptionShape = z.strictObject({
  name: z.string(),
  provider: z.string(),
  plan: z.string(),
  quantity: z.number().int(),
  state: z.enum(['running', 'ending', 'ended']),
  ends_at: instant.nullable(),
})
nameSchema('EndedSubscription', subscriptionShape)

const openAmount = z.strictObject({ amount: z.number().int(), currency: z.string() })

const voidedShape = z.strictObject({
  unbilled_usage: z.array(
    z.strictObject({
      provider: z.string(),
      meter: z.string(),
      reports: z
        .number()
        .int()
        .nullable()
        .describe('Number of reports that were not sent to the provider'),
      amount: openAmount.nullable().describe('`null` for reports that have no price yet'),
    }),
  ),
  unpaid: z.array(
    z.strictObject({
      provider: z.string(),
      invoice: z.string().nullable().describe('Number of the invoice'),
      amount: openAmount,
    }),
  ),
})

export function accountJson(account: Account): z.output<typeof accountShape> {
  const { id, email, name, locale, createdAt, disabledAt, billedBy } = account
  return {
    id,
    email,
    name,
    role: account.role,
    locale,
    created_at: createdAt.toISOString(),
    disabled_at: disabledAt?.toISOString() ?? null,
    provider: billedBy,
  }
}

function subscriptionJson({ endsAt, ...fact }: SubscriptionFact) {
  return { ...fact, ends_at: endsAt?.toISOString() ?? null }
}

function voidedJson({ usage, debts }: OpenAmounts): z.output<typeof voidedShape> {
  return { unbilled_usage: [...usage], unpaid: [...debts] }
}

/** Finds the account that the input of an operation names. */
export async function requireAccount(
  idOrEmail: string,
  { users }: OperationContext,
): Promise<Account> {
  const account = await users.findAccount(idOrEmail)
  if (!account) throw notFound('user', idOrEmail)
  return account
}

/**
 * Finds the account that an actor wants to act on. Operators cannot act on their own account;
 * `outranks()` decides whether they may act on another operator. Clients cannot act on operators.
 */
export async function requireTarget(
  typedUserId: string,
  context: OperationContext,
): Promise<Account> {
  const account = await requireAccount(typedUserId, context)
  const { actor } = context
  if (actor.kind === 'operator' && actor.id === account.id) {
    throw new AdminProblem('conflict', 'You cannot do this to your own account.')
  }
  const isAllowed =
    actor.kind === 'command' ||
    account.role === null ||
    (actor.kind === 'operator' && outranks(actor.role, account.role))
  if (isAllowed) return account
  throw new AdminProblem('forbidden', `${account.id} is an operator: this needs a higher role.`)
}

/** Describes the audit entry of an operation on a person, with all of its input as details. */
function describeUser(
  { id, ...details }: { readonly id: string },
  result: object | null,
): AuditDescription {
  const email = result && 'email' in result ? String(result.email) : null
  return {
    subject: { kind: 'user', id },
    details,
    ...(email !== null && { personal: { email } }),
  }
}

const money = {
  subscription: z
    .enum(SUBSCRIPTION_CHOICES)
    .nullish()
    .transform((choice) => choice ?? null)
    .describe('What happens to a running subscription'),
}

const outcomeShape = z.strictObject({
  ...accountShape.shape,
  state: z.enum(['enabled', 'disabled', 'deleted']),
  subscriptions: z.array(subscriptionShape),
})
nameSchema('UserOutcome', outcomeShape)

function outcomeJson(
  account: Account,
  { state, subscriptions }: { state: string; subscriptions: readonly SubscriptionFact[] },
) {
  return {
    ...accountJson(account),
    state: state as 'enabled',
    subscriptions: subscriptions.map(subscriptionJson),
  }
}

const exportLineShape = z.strictObject({
  section: z.string().describe('Such as `sessions` or `invoices`'),
  data: z.record(z.string(), z.unknown()),
})
nameSchema('ExportLine', exportLineShape)

export const userOperations: readonly Operation[] = [
  operation({
    name: 'users.list',
    summary: 'List people, the newest first',
    route: ['GET', '/users'],
    role: 'viewer',
    effect: 'read',
    input: z.strictObject({
      ...pagedFields,
      email: z.string().max(254).optional().describe('Only the account with this e-mail address'),
      customer: z
        .string()
        .max(191)
        .optional()
        .describe('Only the account with this customer id at the provider'),
      role: role.optional().describe('Only operators with this role'),
    }),
    output: pageShape(accountShape),
    async run({ email, customer, role, ...page }, { users, cursors }) {
      const filter = { email, customer, role }
      return readPage(page, `users ${JSON.stringify(filter)}`, cursors, {
        read: async (before: string | null, limit) =>
          (await users.page({ ...filter, before, limit })).map(accountJson),
        positionOf: ({ id }) => id,
      })
    },
  }),
  operation({
    name: 'users.get',
    summary: 'Show a person',
    route: ['GET', '/users/{id}'],
    role: 'viewer',
    effect: 'read',
    input: z.strictObject({ id: userId }),
    output: accountShape,
    run: async ({ id }, context) => accountJson(await requireAccount(id, context)),
  }),
  operation({
    name: 'users.create',
    summary: 'Create an account',
    description: 'The person can sign in immediately. To give them a role, use `users.setRole`.',
    route: ['POST', '/users'],
    role: 'admin',
    effect: 'change',
    status: 201,
    input: z.strictObject({
      email: z.string().max(1000).describe('E-mail address to sign in with'),
      password: z.string().max(2000).describe('At least 8 characters'),
      name: z.string().max(1000).nullable().default(null).describe('Shown on the pages'),
    }),
    output: accountShape,
    describe: (_input, account) =>
      account === null ? {} : describeUser({ id: account.id }, account),
    async run(input, context) {
      const { id } = await context.users.create(input)
      return accountJson(await requireAccount(id, context))
    },
  }),
  operation({
    name: 'users.invite',
    summary: 'Invite a person to create an account',
    description:
      'The person gets an email with a link that works once, for 7 days, and chooses a password there. Needs a mail server, and a `registration` other than `closed`.',
    route: ['POST', '/users/invitations'],
    role: 'admin',
    effect: 'change',
    status: 202,
    input: z.strictObject({
      email: z.string().max(1000).describe('The address that the invitation is sent to'),
      name: z.string().max(1000).nullable().default(null).describe('Proposed on the page'),
    }),
    output: z.strictObject({ email: z.string() }),
    // Without the address: there is no account with which it could be deleted.
    describe: () => ({}),
    async run(input, { users, recovery, config }) {
      const person = parsePerson(input)
      if (!recovery.hasMail) {
        throw new AdminProblem('conflict', 'The service sends no mail: set TOLLGATE_SMTP_URL.')
      }
      if (config.settings.registration === 'closed') {
        throw new AdminProblem('conflict', 'The setting registration is closed.')
      }
      if (await users.findAccount(person.email)) {
        throw new AdminProblem('conflict', `${person.email} already has an account.`)
      }
      await recovery.invite(person)
      return { email: person.email }
    },
  }),
  operation({
    name: 'users.setPassword',
    summary: 'Set a new password for a person',
    description:
      'Ends all sessions and tokens of the person. The caller could sign in as the person with the new password, so only owners can do this, and clients cannot. Passkeys and accounts at other providers still work: remove them with `users.resetFactors` and `users.unlink`.',
    route: ['PUT', '/users/{id}/password'],
    role: 'owner',
    effect: 'change',
    grantsPower: true,
    input: z.strictObject({
      id: userId,
      password: z.string().max(2000).describe('At least 8 characters'),
    }),
    output: accountShape,
    // The password stays out of the log.
    describe: ({ id }, account) => describeUser({ id }, account),
    async run({ id, password }, context) {
      const account = await requireTarget(id, context)
      await setPassword(context, account.id, password)
      await context.limits.forgiveCodes(account.id)
      await context.recovery.notify(account, 'password_changed')
      return accountJson(account)
    },
  }),
  operation({
    name: 'users.disable',
    summary: 'Lock an account',
    description:
      'Ends all sessions and tokens of the person within a second. If the person has a subscription that would renew, `subscription` must say what happens to it.',
    route: ['POST', '/users/{id}/disable'],
    role: 'support',
    effect: 'change',
    commits: 'in-steps',
    input: z.strictObject({ id: userId, ...money }),
    output: outcomeShape,
    describe: describeUser,
    async run({ id, subscription }, context) {
      const account = await requireTarget(id, context)
      const outcome = await disableAccount(context, context.billing, account, {
        choice: subscription,
      })
      return outcomeJson(await requireAccount(id, context), outcome)
    },
  }),
  operation({
    name: 'users.enable',
    summary: 'Let the owner of a disabled account sign in again',
    route: ['POST', '/users/{id}/enable'],
    role: 'support',
    effect: 'change',
    input: z.strictObject({ id: userId }),
    output: outcomeShape,
    describe: describeUser,
    async run({ id }, context) {
      const account = await requireTarget(id, context)
      const outcome = await enableAccount(context, context.billing, account)
      return outcomeJson(await requireAccount(id, context), outcome)
    },
  }),
  operation({
    name: 'users.signOut',
    summary: 'End all sessions and tokens of a person',
    route: ['POST', '/users/{id}/sign-out'],
    role: 'support',
    effect: 'change',
    status: 204,
    input: z.strictObject({ id: userId }),
    output: z.null(),
    describe: describeUser,
    async run({ id }, context) {
      await endSignIns(context, (await requireTarget(id, context)).id)
      return null
    },
  }),
  operation({
    name: 'users.resetFactors',
    summary: 'Remove all second factors and recovery codes of a person',
    description:
      'For people who have lost their second factor. First make sure that the request comes from them: afterwards their password alone is enough, or they set up a new factor if the service requires one. Ends all sessions and tokens of the person, who is told at the next sign-in.',
    route: ['POST', '/users/{id}/reset-factors'],
    role: 'admin',
    effect: 'irreversible',
    status: 204,
    input: z.strictObject({ id: userId }),
    output: z.null(),
    describe: describeUser,
    async run({ id }, context) {
      const account = await requireTarget(id, context)
      await context.factors.reset(account.id)
      const t = textFor(account.locale === null ? [] : [account.locale])
      await context.recovery.notify(account, 'sign_in_method_removed', t('factors.title'))
      await endSignIns(context, account.id)
      return null
    },
  }),
  operation({
    name: 'users.delete',
    summary: 'Delete an account permanently',
    description:
      'Ends sessions, tokens and approvals. Invoices stay at the provider. If a subscription still runs until the end of its period, the account is only disabled: repeat the request after that day.',
    route: ['POST', '/users/{id}/delete'],
    role: 'admin',
    effect: 'irreversible',
    commits: 'in-steps',
    input: z.strictObject({
      id: userId,
      ...money,
      void_open: z.boolean().default(false).describe('Void unbilled usage and unpaid invoices'),
    }),
    output: z.strictObject({
      id: userId,
      state: z.enum(['disabled', 'deleted']),
      subscriptions: z.array(subscriptionShape),
      voided: voidedShape,
    }),
    describe: describeUser,
    async run({ id, subscription, void_open: voidOpen }, context) {
      const account = await requireTarget(id, context)
      const outcome = await deleteAccount(context, context.billing, account, {
        choice: subscription,
        voidOpen,
      })
      if (outcome.state === 'deleted') await context.audit.forget(account.id)
      return {
        id: account.id,
        state: outcome.state as 'deleted',
        subscriptions: outcome.subscriptions.map(subscriptionJson),
        voided: voidedJson(outcome.voided),
      }
    },
  }),
  operation({
    name: 'users.export',
    summary: 'Export everything that is stored about a person as JSON lines',
    description:
      'Each line has the name of a section and one entry. Invoices and payment methods are read from the provider. Contains no secrets. If the export fails, the connection breaks before the end of the response.',
    route: ['GET', '/users/{id}/export'],
    role: 'admin',
    effect: 'read',
    input: z.strictObject({ id: userId }),
    output: z.instanceof(JsonLinesResult),
    line: exportLineShape,
    async run({ id }, context) {
      const account = await requireAccount(id, context)
      return new JsonLinesResult(exportAccount(context.database, context.billing, account))
    },
  }),
  operation({
    name: 'users.setRole',
    summary: 'Make a person an operator, or remove the role',
    description:
      'Ends all sessions and tokens of the person, so that the new role applies everywhere.',
    route: ['PUT', '/users/{id}/role'],
    role: 'owner',
    effect: 'change',
    grantsPower: true,
    input: z.strictObject({ id: userId, role: role.nullable() }),
    output: accountShape,
    describe: describeUser,
    async run({ id, role }, context) {
      const account = await requireTarget(id, context)
      await context.users.setRole(account.id, role)
      await endSignIns(context, account.id)
      return accountJson(await requireAccount(id, context))
    },
  }),
]
