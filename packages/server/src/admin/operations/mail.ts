import type { QueuedMail } from '@tollgate/billing'
import { z } from 'zod'
import {
  ACCOUNT_MAIL_STATES,
  type AccountMailRetry,
  type ListedAccountMail,
  RETRIES,
} from '../../recovery/account-mails.ts'
import { type Operation, operation, readBilling } from '../operation.ts'
import { AdminProblem, notFound } from '../problems.ts'
import { instant, nameSchema, pagedFields, pageShape, readPage } from './fields.ts'
import { type QueuePosition, toPageOption } from './webhooks.ts'

/** The states of mail to customers. */
export const MAIL_STATES = ['pending', 'sending', 'done', 'dead'] as const

const mailShape = z.strictObject({
  id: z.number().int().describe('Id of the mail in Tollgate'),
  kind: z.string().describe('Such as `receipt`'),
  subject: z.string().describe('The object that the mail is about, such as the id of an invoice'),
  provider: z.string(),
  state: z
    .enum(MAIL_STATES)
    .describe(
      '`pending`: waiting for an attempt. `sending`: being sent, or interrupted, so that it may have arrived. `done`: sent. `dead`: given up',
    ),
  attempts: z.number().int(),
  due_at: instant.describe('When the next attempt is due, or when the last one was due'),
  last_error: z.string().nullable(),
  created_at: instant,
  finished_at: instant.nullable(),
})
nameSchema('Mail', mailShape)

/** Mail to a customer, as the operations return it. */
export type MailJson = z.output<typeof mailShape>

const LONGEST_ERROR = 2000

function mailJson(mail: QueuedMail): z.output<typeof mailShape> {
  const { id, kind, subject, provider, state, attempts, lastError, finishedAt } = mail
  return {
    ...{ id, kind, subject, provider, state, attempts },
    due_at: mail.dueAt.toISOString(),
    last_error: lastError?.slice(0, LONGEST_ERROR) ?? null,
    created_at: mail.createdAt.toISOString(),
    finished_at: finishedAt?.toISOString() ?? null,
  }
}

const accountMailShape = z.strictObject({
  id: z.number().int().describe('Id of the mail in Tollgate'),
  kind: z.string().describe('Such as `password_reset`'),
  user_id: z
    .string()
    .nullable()
    .describe('The account that the mail is about. `null` if only an address is known'),
  address: z.string().describe('The recipient'),
  state: z
    .enum(ACCOUNT_MAIL_STATES)
    .describe('`pending`: waiting for an attempt, or being sent. `done`: sent. `dead`: given up'),
  attempts: z.number().int(),
  retry: z
    .enum(RETRIES)
    .describe(
      'Whether it can be sent again. `possible`: yes. `waiting`, `sent`: it was not given up. `link-expired`, `link-used`: its link must not work again, so the person has to request another mail',
    ),
  due_at: instant.describe('When the next attempt is due, or when the last one was due'),
  last_error: z.string().nullable(),
  created_at: instant,
  finished_at: instant.nullable(),
})
nameSchema('AccountMail', accountMailShape)

/** Mail about an account, as the operations return it. Never contains its text or its link. */
export type AccountMailJson = z.output<typeof accountMailShape>

function accountMailJson(mail: ListedAccountMail): AccountMailJson {
  const { id, kind, userId, address, state, attempts, retry, lastError, finishedAt } = mail
  return {
    ...{ id, kind, address, state, attempts, retry },
    user_id: userId === null ? null : String(userId),
    due_at: mail.dueAt.toISOString(),
    last_error: lastError?.slice(0, LONGEST_ERROR) ?? null,
    created_at: mail.createdAt.toISOString(),
    finished_at: finishedAt?.toISOString() ?? null,
  }
}

/** Why mail about an account is not sent again. */
const NO_RETRY: Readonly<Record<Exclude<AccountMailRetry, 'possible'>, string>> = {
  waiting: 'The mail waits for its next attempt.',
  sent: 'The mail was sent.',
  'link-expired': 'The link in the mail has expired. The person has to request another mail.',
  'link-used': 'The link in the mail was used. The person has to request another mail.',
}

/** Operations on the mail to customers, and on mail about accounts. */
export const mailOperations: readonly Operation[] = [
  operation({
    name: 'mail.list',
    summary: 'List mail to customers in one state, latest `due_at` first',
    description:
      'The list is empty if the service sends no mail. Sent mail is kept for some weeks.',
    route: ['GET', '/mail'],
    role: 'viewer',
    effect: 'read',
    input: z.strictObject({ ...pagedFields, state: z.enum(MAIL_STATES).default('dead') }),
    output: pageShape(mailShape),
    async run({ state, ...page }, context) {
      const { notices } = await readBilling(context)
      const found = await readPage(page, `mail ${state}`, context.cursors, {
        read: async (position: QueuePosition | null, limit) =>
          (await notices?.page(state, { limit, ...toPageOption(position) })) ?? [],
        positionOf: ({ id, dueAt }) => ({ id, due: dueAt.getTime() }),
      })
      return { ...found, data: found.data.map(mailJson) }
    },
  }),
  operation({
    name: 'mail.retry',
    summary: 'Send mail again that was given up or interrupted',
    description: 'The `Message-ID` stays the same. Interrupted mail may arrive a second time.',
    route: ['POST', '/mail/{mail}/retry'],
    role: 'support',
    effect: 'change',
    commits: 'in-steps',
    input: z.strictObject({
      mail: z.coerce.number().int().positive().max(1e15).describe('Id of the mail in Tollgate'),
    }),
    output: mailShape,
    describe: ({ mail }) => ({ subject: { kind: 'mail', id: String(mail) } }),
    async run({ mail }, context) {
      const { notices } = await context.billing.provider()
      const found = (await notices?.find(mail)) ?? null
      if (!notices || !found) throw notFound('mail', String(mail))
      if (!(await notices.retry(mail))) {
        throw new AdminProblem('conflict', 'The mail was sent, or waits for its next attempt.')
      }
      return mailJson((await notices.find(mail)) ?? found)
    },
  }),
  operation({
    name: 'mail.listAboutAccounts',
    summary: 'List mail about accounts in one state, latest `due_at` first',
    description:
      'Such as links for a forgotten password, and notices of changes. The text and the link of a mail are never shown. Mail that was sent or given up is kept for a week.',
    route: ['GET', '/account-mail'],
    role: 'viewer',
    effect: 'read',
    input: z.strictObject({ ...pagedFields, state: z.enum(ACCOUNT_MAIL_STATES).default('dead') }),
    output: pageShape(accountMailShape),
    async run({ state, ...page }, { recovery, cursors }) {
      const found = await readPage(page, `account mail ${state}`, cursors, {
        read: (position: QueuePosition | null, limit) =>
          recovery.mails.page(state, { limit, ...toPageOption(position) }),
        positionOf: ({ id, dueAt }) => ({ id, due: dueAt.getTime() }),
      })
      return { ...found, data: found.data.map(accountMailJson) }
    },
  }),
  operation({
    name: 'mail.retryAboutAccount',
    summary: 'Send mail about an account again that was given up',
    description:
      'The `Message-ID` stays the same. Fails if the link in the mail has expired or was used. Mail that has become pointless, such as a link for an account that has another password now, is deleted instead.',
    route: ['POST', '/account-mail/{mail}/retry'],
    role: 'support',
    effect: 'change',
    input: z.strictObject({
      mail: z.coerce.number().int().positive().max(1e15).describe('Id of the mail in Tollgate'),
    }),
    output: accountMailShape,
    describe: ({ mail }, result) => ({
      subject: { kind: 'account-mail', id: String(mail), owner: result?.user_id ?? null },
      ...(result && { details: { kind: result.kind } }),
    }),
    async run({ mail }, { recovery: { mails } }) {
      const found = await mails.find(mail)
      if (!found) throw notFound('mail', String(mail))
      if (found.retry !== 'possible') throw new AdminProblem('conflict', NO_RETRY[found.retry])
      if (!(await mails.retry(mail))) throw new AdminProblem('conflict', NO_RETRY.waiting)
      return accountMailJson((await mails.find(mail)) ?? found)
    },
  }),
]
