import type { Token } from '@tollgate/oauth'
import { z } from 'zod'
import { type Operation, operation } from '../operation.ts'
import { notFound } from '../problems.ts'
import { id, instant, nameSchema, userId } from './fields.ts'
import { requireAccount, requireTarget } from './users.ts'

const sessionShape = z.strictObject({
  id: z.string().describe('Identifies the session, but cannot be used as its cookie'),
  started_at: instant,
  seen_at: instant.describe('Last request, accurate to ten minutes'),
  address: z.string().nullable(),
  browser: z.string().nullable(),
})
nameSchema('Session', sessionShape)

const applicationShape = z.strictObject({
  client_id: z.string(),
  name: z.string(),
  scopes: z.array(z.string()),
  approved_at: instant,
})
nameSchema('ApprovedApplication', applicationShape)

export const tokenShape = z.strictObject({
  id: z.string().describe('Identifies the token, but cannot be used as one'),
  client_id: z.string(),
  name: z.string().nullable().describe('Name of a personal access token'),
  grant_type: z.string(),
  scopes: z.array(z.string()),
  created_at: instant,
  expires_at: instant,
  last_used_at: instant
    .nullable()
    .describe('Last use of a personal access token, accurate to a day. `null` for other tokens'),
})
nameSchema('Token', tokenShape)

const linkShape = z.strictObject({
  id: z.string(),
  provider: z.string().describe('Id of the provider in the setting `signInWith`'),
  subject: z.string().describe('Identifies the person at the provider'),
  email: z.string().nullable().describe('Address at the provider when the account was linked'),
  created_at: instant,
  used_at: instant.describe('Last sign-in'),
})
nameSchema('LinkedIdentity', linkShape)

export type LinkJson = z.output<typeof linkShape>
export type SessionJson = z.output<typeof sessionShape>
export type ApplicationJson = z.output<typeof applicationShape>
export type TokenJson = z.output<typeof tokenShape>

export function tokenJson(token: Token): TokenJson {
  return {
    id: token.id,
    client_id: token.clientId,
    name: token.name,
    grant_type: token.grantType,
    scopes: [...token.scopes],
    created_at: token.createdAt.toISOString(),
    expires_at: token.expiresAt.toISOString(),
    last_used_at: token.lastUsedAt?.toISOString() ?? null,
  }
}

const factorUse = { created_at: instant, last_used_at: instant.nullable() }

const factorsShape = z.strictObject({
  passkeys: z.array(z.strictObject({ id, name: z.string(), ...factorUse })),
  app: z.strictObject(factorUse).nullable().describe('The authenticator app'),
  recovery_codes: z.number().int().describe('Number of unused recovery codes'),
})
nameSchema('SecondFactors', factorsShape)

/** The output of `users.getFactors`. */
export type FactorsJson = z.output<typeof factorsShape>

const dataListShape = <Entry extends z.ZodType>(entry: Entry) =>
  z.strictObject({ data: z.array(entry) })
/** Operations on the sessions, approvals and tokens of an account. */
export const accessOperations: readonly Operation[] = [
  operation({
    name: 'users.listSessions',
    summary: 'List the open sessions of a person',
    route: ['GET', '/users/{id}/sessions'],
    role: 'viewer',
    effect: 'read',
    input: z.strictObject({ id: userId }),
    output: dataListShape(sessionShape),
    async run(input, context) {
      const account = await requireAccount(input.id, context)
      const sessions = await context.sessions.list(account.id)
      return {
        data: sessions.map(({ id, startedAt, seenAt, address, browser }) => ({
          id,
          started_at: startedAt.toISOString(),
          seen_at: seenAt.toISOString(),
          address,
          browser,
        })),
      }
    },
  }),
  operation({
    name: 'users.endSession',
    summary: 'End a session of a person',
    route: ['DELETE', '/users/{id}/sessions/{session}'],
    role: 'support',
    effect: 'change',
    status: 204,
    input: z.strictObject({ id: userId, session: id }),
    output: z.null(),
    describe: (input) => ({ subject: { kind: 'session', id: input.session, owner: input.id } }),
    async run(input, context) {
      const account = await requireTarget(input.id, context)
      if (!(await context.sessions.endOwn(account.id, input.session))) {
        throw notFound('session', input.session)
      }
      await context.oauth.endSession(input.session)
      return null
    },
  }),
  operation({
    name: 'users.getFactors',
    summary: 'Show the second factors of a person',
    route: ['GET', '/users/{id}/factors'],
    role: 'viewer',
    effect: 'read',
    input: z.strictObject({ id: userId }),
    output: factorsShape,
    async run(input, context) {
      const account = await requireAccount(input.id, context)
      const { passkeys, totp, recoveryCodes } = await context.factors.list(account.id)
      return {
        passkeys: passkeys.map(({ id, name, createdAt, lastUsedAt }) => ({
          id,
          name,
          created_at: createdAt.toISOString(),
          last_used_at: lastUsedAt?.toISOString() ?? null,
        })),
        app: totp && {
          created_at: totp.createdAt.toISOString(),
          last_used_at: totp.lastUsedAt?.toISOString() ?? null,
        },
        recovery_codes: recoveryCodes,
      }
    },
  }),
  operation({
    name: 'users.listApplications',
    summary: 'List the applications that a person has approved',
    route: ['GET', '/users/{id}/applications'],
    role: 'viewer',
    effect: 'read',
    input: z.strictObject({ id: userId }),
    output: dataListShape(applicationShape),
    async run(input, context) {
      const account = await requireAccount(input.id, context)
      const consents = await context.oauth.consents.listByUser(account.id)
      const ids = consents.map(({ clientId }) => clientId)
      const clients = await context.oauth.clients.findMany(ids)
      return {
        data: consents.map(({ clientId, scopes, updatedAt }) => ({
          client_id: clientId,
          name: clients.get(clientId)?.name ?? clientId,
          scopes: [...scopes],
          approved_at: updatedAt.toISOString(),
        })),
      }
    },
  }),
  operation({
    name: 'users.revokeApplication',
    summary: "End an application's access to an account, with all its tokens",
    route: ['DELETE', '/users/{id}/applications/{client}'],
    role: 'support',
    effect: 'change',
    status: 204,
    input: z.strictObject({ id: userId, client: id }),
    output: z.null(),
    describe: (input) => ({ subject: { kind: 'client', id: input.client, owner: input.id } }),
    async run(input, context) {
      const account = await requireTarget(input.id, context)
      await context.oauth.consents.revoke(account.id, input.client)
      return null
    },
  }),
  operation({
    name: 'users.listTokens',
    summary: 'List the valid tokens of a person, newest first',
    route: ['GET', '/users/{id}/tokens'],
    role: 'viewer',
    effect: 'read',
    input: z.strictObject({ id: userId }),
    output: dataListShape(tokenShape),
    async run(input, context) {
      const account = await requireAccount(input.id, context)
      const tokens = await context.oauth.tokens.listByUser(account.id)
      return {
        data: tokens.map(tokenJson),
      }
    },
  }),
  operation({
    name: 'users.revokeToken',
    summary: 'Revoke a token of a person, with its refresh token',
    route: ['DELETE', '/users/{id}/tokens/{token}'],
    role: 'support',
    effect: 'change',
    status: 204,
    input: z.strictObject({ id: userId, token: id }),
    output: z.null(),
    describe: (input) => ({ subject: { kind: 'token', id: input.token, owner: input.id } }),
    async run(input, context) {
      const account = await requireTarget(input.id, context)
      const token = await context.oauth.tokens.find(input.token)
      if (token?.userId !== account.id) throw notFound('token', input.token)
      await context.oauth.tokens.revoke(token.id)
      return null
    },
  }),
  operation({
    name: 'users.listLinks',
    summary: 'List the accounts at other providers that a person signs in with',
    route: ['GET', '/users/{id}/links'],
    role: 'viewer',
    effect: 'read',
    input: z.strictObject({ id: userId }),
    output: dataListShape(linkShape),
    async run(input, context) {
      const account = await requireAccount(input.id, context)
      const links = await context.users.identities.list(account.id)
      return {
        data: links.map(({ id, provider, subject, email, createdAt, usedAt }) => ({
          id,
          provider,
          subject,
          email,
          created_at: createdAt.toISOString(),
          used_at: usedAt.toISOString(),
        })),
      }
    },
  }),
  operation({
    name: 'users.unlink',
    summary: 'Remove the link of a person with an account at another provider',
    description:
      'Sessions continue: to end them, use `users.signOut`. Refused if it is the only way for the person to sign in: set a password first.',
    route: ['DELETE', '/users/{id}/links/{link}'],
    role: 'support',
    effect: 'change',
    status: 204,
    input: z.strictObject({ id: userId, link: id }),
    output: z.null(),
    describe: (input) => ({ subject: { kind: 'link', id: input.link, owner: input.id } }),
    async run(input, context) {
      const account = await requireTarget(input.id, context)
      const usable = context.config.signInWith.map((provider) => provider.id)
      const link = await context.users.identities.unlink(account.id, input.link, usable)
      if (!link) throw notFound('link', input.link)
      const name = context.recovery.nameOfProvider(link.provider)
      await context.recovery.notify(account, 'sign_in_method_removed', name)
      return null
    },
  }),
]
