import type { NewEndpoint, NewEndpointOptions, ReplayOptions, SyncReport } from '@tollgate/billing'
import { z } from 'zod'
import { type Operation, type OperationArea, operation } from '../operation.ts'
import { notFound } from '../problems.ts'
import { tokenJson, tokenShape } from './access.ts'
import { id, pageShape, userId } from './fields.ts'

const count = z.number().int()

const endedShape = z.strictObject({
  tokens: count,
  personalAccessTokens: count,
  codes: count,
  interactions: count,
  consents: count,
  keys: count,
  sessions: count,
})

/** Numbers of the tokens, sessions and other objects that were ended, by kind. */
export type EndedCounts = z.output<typeof endedShape>

/** Declares an operation without a route, because only commands offer it. */
function commandOperation<Input extends z.ZodType, Output extends z.ZodType>(
  declared: Omit<Parameters<typeof operation<Input, Output>>[0], 'route'>,
): Operation {
  return operation({ ...declared, route: ['POST', '/maintenance'] })
}

/**
 * Declares an operation whose work a command does itself, without the parts of a running service,
 * such as a migration. It is audited like every other operation.
 */
export function createLocalOperation<Output>(declared: {
  readonly name: `${OperationArea}.${string}`
  readonly summary: string
  /** Returns the facts for the audit log. `null` before the work and after a failure. */
  readonly details: (result: Output | null) => Readonly<Record<string, unknown>>
  readonly work: () => Promise<Output>
}): Operation {
  const { name, summary, details, work } = declared
  return commandOperation({
    ...{ name, summary, role: 'owner', effect: 'change', commits: 'in-steps' },
    input: z.strictObject({}),
    output: z.custom<Output>(),
    describe: (_input, result) => ({ details: details(result) }),
    run: work,
  })
}

/** Operations on the whole database. Only commands offer them; the API has no routes to them. */
export const maintenanceOperations: readonly Operation[] = [
  commandOperation({
    name: 'keys.endEverything',
    summary: 'Revoke every token, code, session and cookie that was issued before now',
    role: 'owner',
    effect: 'irreversible',
    commits: 'in-steps',
    grantsPower: true,
    input: z.strictObject({
      sessions: z.boolean().describe("Whether to also end the service's own sessions"),
    }),
    output: endedShape,
    describe: (_input, ended) => ({ details: { ...ended } }),
    async run(input, { oauth, sessions }) {
      // First, because a session could still issue a new cookie after the cookies have been ended.
      const ended = input.sessions ? await sessions.endEveryone() : 0
      return { ...(await oauth.endEverything()), sessions: ended }
    },
  }),
  commandOperation({
    name: 'clients.listTokens',
    summary: 'List the valid tokens of everybody, of a person or of an application, newest first',
    role: 'viewer',
    effect: 'read',
    input: z.strictObject({
      user_id: userId.optional(),
      client_id: id.optional(),
      limit: count.optional(),
      after: id.optional(),
    }),
    output: pageShape(tokenShape.extend({ user_id: z.string().nullable() })),
    async run({ user_id: user, client_id: client, limit, after }, { oauth }) {
      const { tokens, next } = await oauth.tokens.page({
        ...(user !== undefined && { userId: user }),
        ...(client !== undefined && { clientId: client }),
        ...(limit !== undefined && { limit }),
        ...(after !== undefined && { after }),
      })
      return { data: tokens.map((token) => ({ ...tokenJson(token), user_id: token.userId })), next }
    },
  }),
  commandOperation({
    name: 'clients.revokeToken',
    summary: 'Revoke a token with its refresh token',
    role: 'support',
    effect: 'change',
    input: z.strictObject({ id }),
    output: z.null(),
    describe: (input) => ({ subject: { kind: 'token', id: input.id } }),
    async run(input, { oauth }) {
      const token = await oauth.tokens.find(input.id)
      if (!token) throw notFound('token', input.id)
      await oauth.tokens.revoke(token.id)
      return null
    },
  }),
  commandOperation({
    name: 'clients.purgeTokens',
    summary: 'Delete the rows of expired tokens, refresh tokens and codes',
    role: 'owner',
    effect: 'change',
    commits: 'in-steps',
    input: z.strictObject({}),
    output: z.strictObject({ tokens: count }),
    describe: (_input, purged) => ({ details: { ...purged } }),
    run: async (_input, { oauth }) => ({ tokens: await oauth.purge() }),
  }),
  commandOperation({
    name: 'clients.revokeTokensOf',
    summary: 'Revoke all tokens of a person',
    role: 'support',
    effect: 'change',
    input: z.strictObject({ user_id: userId }),
    output: z.null(),
    describe: (input) => ({ subject: { kind: 'user', id: input.user_id } }),
    async run(input, { oauth }) {
      await oauth.revokeUser(input.user_id)
      return null
    },
  }),
  commandOperation({
    name: 'billing.syncAll',
    summary: 'Update the billing data of all users from the providers',
    role: 'owner',
    effect: 'irreversible',
    commits: 'in-steps',
    input: z.strictObject({
      resume: z.boolean().describe('Continue an interrupted run'),
      cancelDeletedUsers: z.boolean(),
      cancelUnowned: z.boolean(),
      since: z.date().optional().describe('Only changes since this time'),
    }),
    output: z.custom<SyncReport>(),
    describe: (input, report) => ({
      details: {
        ...input,
        ...(report && { users: report.users, differences: report.drift.length }),
      },
    }),
    async run({ since, ...input }, { billing }) {
      return (await billing.provider()).sync({ ...input, ...(since && { since }) })
    },
  }),
  commandOperation({
    name: 'webhooks.replay',
    summary: 'Handle provider events again: one by its id, or all in a period',
    role: 'owner',
    effect: 'change',
    commits: 'in-steps',
    input: z.custom<ReplayOptions>(),
    output: z.strictObject({ replayed: count }),
    describe: (input, result) => ({ details: { ...input, ...result } }),
    run: async (input, { billing }) => ({
      replayed: await (await billing.provider()).webhooks.replay(input),
    }),
  }),
  commandOperation({
    name: 'webhooks.createEndpoint',
    summary: 'Register the webhook endpoint of the service at a provider',
    role: 'owner',
    effect: 'change',
    commits: 'in-steps',
    input: z.custom<NewEndpointOptions>(),
    output: z.custom<NewEndpoint>(),
    describe: ({ provider, replace, usage }, made) => ({
      ...(made && { subject: { kind: 'endpoint', id: made.id } }),
      details: { provider, replace, usage },
    }),
    run: async (input, { billing }) => (await billing.provider()).endpoints.create(input),
  }),
]
