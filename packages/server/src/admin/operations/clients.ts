import {
  type Client,
  describeClientSecret,
  type GrantType,
  isVerifiedClient,
  pickOwnSettings,
  type SettingsChange,
} from '@tollgate/oauth'
import { z } from 'zod'
import { isFreshSignIn } from '../authorize.ts'
import { adminScopes, type Operation, type OperationContext, operation } from '../operation.ts'
import { AdminProblem, notFound } from '../problems.ts'
import { id, instant, nameSchema, pagedFields, pageShape, userId } from './fields.ts'

const ADMIN_SCOPES: ReadonlySet<string> = new Set(Object.keys(adminScopes()))

const clientShape = z.strictObject({
  id: z.string().describe('The `client_id`'),
  name: z.string(),
  redirect_uris: z.array(z.string()),
  grants: z.array(z.string()).describe('Grant types that the client may use'),
  scopes: z.array(z.string()).nullable().describe('Scopes it may request. `null` for any'),
  confidential: z.boolean().describe('Whether the client has a secret or a key'),
  first_party: z.boolean().describe('Whether the approval page is skipped for this client'),
  resource_server: z.boolean().describe('Whether it may introspect the tokens of every client'),
  settings: z.record(z.string(), z.unknown()).describe('Client metadata (RFC 7591)'),
  user_id: z.string().nullable().describe('The person who registered the client'),
  registered_by: z.enum(['operator', 'user', 'registration', 'document']),
  verified: z.boolean(),
  previous_secret_until: instant.nullable().describe('When the previous secret stops working'),
  last_used_at: instant
    .nullable()
    .describe('Accurate to a day. Always `null` in responses to changes'),
  created_at: instant,
  updated_at: instant,
  revoked_at: instant.nullable(),
  version: z.string().describe('Version of the client, also sent as the ETag. For If-Match'),
})
nameSchema('Application', clientShape)

const withSecret = z.strictObject({
  ...clientShape.shape,
  secret: z.string().nullable().describe('Shown once. `null` if the client has none'),
})
nameSchema('ApplicationWithSecret', withSecret)

function clientJson(
  client: Client,
  { clock }: Pick<OperationContext, 'clock'>,
  lastUsedAt?: Date,
): z.output<typeof clientShape> {
  const { settings, updatedAt } = client
  const { self_registered: registration } = settings
  return {
    id: getPublicClientId(client),
    name: client.name,
    redirect_uris: [...client.redirectUris],
    grants: [...client.grantTypes],
    scopes: client.scopes && [...client.scopes],
    confidential: client.confidential,
    first_party: client.firstParty,
    resource_server: client.resourceServer,
    settings: { ...pickOwnSettings(settings) },
    user_id: client.userId,
    registered_by: registration?.by ?? (client.userId === null ? 'operator' : 'user'),
    verified: isVerifiedClient(client),
    previous_secret_until: describeClientSecret(client, clock).previousUntil?.toISOString() ?? null,
    last_used_at: lastUsedAt?.toISOString() ?? null,
    created_at: client.createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
    revoked_at: client.revokedAt?.toISOString() ?? null,
    version: getClientVersion(client),
  }
}

/** The public id: the URL of the metadata document, if the client has one. */
const getPublicClientId = ({ id, settings }: Client) => settings.self_registered?.document ?? id

const getClientVersion = ({ updatedAt }: Client) => String(updatedAt.getTime())

/** Whether the client can call the management API. */
function isManagement({ scopes }: Pick<Client, 'scopes'>): boolean {
  return scopes?.some((scope) => ADMIN_SCOPES.has(scope)) ?? false
}

async function requireClient(typedClientId: string, { oauth }: OperationContext): Promise<Client> {
  const client = await oauth.clients.find(typedClientId)
  if (!client) throw notFound('client', typedClientId)
  return client
}

/**
 * Finds the client to change. Because a person who can change a client of the management API, or
 * learn its secret, has the client's power, only owners who signed in recently may change one.
 */
async function requireChangeable(given: string, context: OperationContext): Promise<Client> {
  const client = await requireClient(given, context)
  const { actor, clock } = context
  if (!isManagement(client) || actor.kind === 'command') return client
  if (actor.kind === 'client' || actor.role !== 'owner') {
    throw new AdminProblem('forbidden', 'Only an owner may change clients of the management API.')
  }
  if (isFreshSignIn(actor.signedInAt, clock.now())) return client
  throw new AdminProblem(
    'fresh-sign-in-required',
    'Changing a client of the management API needs a sign-in within the last ten minutes.',
  )
}

function refuseAdminScopes(scopes: readonly string[] | null | undefined): void {
  const scope = scopes?.find((name) => ADMIN_SCOPES.has(name))
  if (scope === undefined) return
  throw new AdminProblem('invalid-input', 'Check these fields: scopes.', {
    fields: {
      scopes: [`${scope} is for clients of the management API: use POST /management-clients.`],
    },
  })
}

/** Checks If-Match, which a change of a client must have. */
function requireVersion(client: Client, { ifMatch }: OperationContext): void {
  if (ifMatch === null) {
    throw new AdminProblem(
      'precondition-required',
      'Send If-Match with the ETag of the client as you last read it, so that you do not overwrite the change of another operator.',
    )
  }
  if (ifMatch === '*' || ifMatch.replace(/^"|"$/g, '') === getClientVersion(client)) return
  throw new AdminProblem('stale', 'The client has changed since you read it. Read it again.')
}

const fields = {
  name: z.string(),
  redirect_uris: z.array(z.string()),
  grants: z.array(z.string()),
  scopes: z.array(z.string()).nullable(),
  first_party: z.boolean(),
  resource_server: z.boolean(),
  settings: z.record(z.string(), z.unknown()),
}
const changes = z
  .strictObject({ id, ...fields })
  .partial()
  .required({ id: true })
type Changes = z.output<typeof changes>

/** Converts the changes to the fields of the library, without fields that were not sent. */
function toLibrary({ name, redirect_uris, grants, scopes, ...rest }: Omit<Changes, 'id'>) {
  return {
    ...(name !== undefined && { name }),
    ...(redirect_uris !== undefined && { redirect: redirect_uris }),
    // The authorization server validates the names.
    ...(grants !== undefined && { grants: grants as readonly GrantType[] }),
    ...(scopes !== undefined && { scopes }),
    ...(rest.first_party !== undefined && { firstParty: rest.first_party }),
    ...(rest.resource_server !== undefined && { resourceServer: rest.resource_server }),
    ...(rest.settings !== undefined && { settings: rest.settings as SettingsChange }),
  }
}

const describeClient = ({ id }: { readonly id: string }) => ({ subject: { kind: 'client', id } })
const withoutSecret = <Result extends { readonly secret: string | null }>(result: Result) => ({
  ...result,
  secret: null,
})

export const clientOperations: readonly Operation[] = [
  operation({
    name: 'clients.list',
    summary: 'List applications, oldest first',
    route: ['GET', '/clients'],
    role: 'viewer',
    effect: 'read',
    input: z.strictObject({
      ...pagedFields,
      search: z.string().max(191).optional().describe('Part of the name, or an id'),
    }),
    output: pageShape(clientShape),
    async run({ search, after, limit }, context) {
      const { oauth, cursors } = context
      const list = `clients ${search ?? ''}`
      const { clients, next } = await oauth.clients.page({
        limit,
        ...(after !== undefined && { after: String(cursors.decode(list, after)) }),
        ...(search !== undefined && { search }),
      })
      const uses = await oauth.clients.lastUsed(clients.map(getPublicClientId))
      return {
        data: clients.map((client) =>
          clientJson(client, context, uses.get(getPublicClientId(client))),
        ),
        next: next === null ? null : cursors.encode(list, next),
      }
    },
  }),
  operation({
    name: 'clients.get',
    summary: 'Show an application',
    route: ['GET', '/clients/{id}'],
    role: 'viewer',
    effect: 'read',
    input: z.strictObject({ id }),
    output: clientShape,
    async run({ id }, context) {
      const client = await requireClient(id, context)
      const uses = await context.oauth.clients.lastUsed([getPublicClientId(client)])
      return clientJson(client, context, uses.get(getPublicClientId(client)))
    },
  }),
  operation({
    name: 'clients.create',
    summary: 'Register an application',
    description: 'The response contains the secret, which cannot be read again.',
    route: ['POST', '/clients'],
    role: 'admin',
    effect: 'change',
    status: 201,
    input: z
      .strictObject({
        ...fields,
        user_id: userId.nullable(),
        confidential: z.boolean(),
      })
      .partial()
      .required({ name: true }),
    output: withSecret,
    forRepeats: withoutSecret,
    describe: ({ name }, client) => ({
      ...(client && { subject: { kind: 'client', id: client.id } }),
      details: { name },
    }),
    async run({ user_id: owner, confidential, name, ...rest }, context) {
      refuseAdminScopes(rest.scopes)
      if (owner != null && !(await context.users.findAccount(owner))) throw notFound('user', owner)
      const { scopes, settings, ...wanted } = toLibrary(rest)
      const { client, secret } = await context.oauth.clients.create({
        ...wanted,
        name,
        ...(scopes && { scopes }),
        ...(settings && { settings: settings as never }),
        ...(owner != null && { userId: owner }),
        ...(confidential !== undefined && { confidential }),
      })
      return { ...clientJson(client, context), secret }
    },
  }),
  operation({
    name: 'clients.createForManagement',
    summary: 'Register a client of the management API',
    description: 'It uses the client credentials grant, with these scopes and no others.',
    route: ['POST', '/management-clients'],
    role: 'owner',
    effect: 'change',
    grantsPower: true,
    status: 201,
    input: z.strictObject({
      name: z.string(),
      scopes: z.array(z.enum([...ADMIN_SCOPES] as [string, ...string[]])).min(1),
    }),
    output: withSecret,
    forRepeats: withoutSecret,
    describe: ({ name, scopes }, client) => ({
      ...(client && { subject: { kind: 'client', id: client.id } }),
      details: { name, scopes },
    }),
    async run({ name, scopes }, context) {
      const { oauth } = context
      const grants: readonly GrantType[] = ['client_credentials']
      const { client, secret } = await oauth.clients.create({ name, scopes, grants })
      return { ...clientJson(client, context), secret }
    },
  }),
  operation({
    name: 'clients.update',
    summary: 'Change an application',
    description:
      'Omitted fields keep their values. Needs If-Match. In `settings`, `null` removes a setting.',
    route: ['PATCH', '/clients/{id}'],
    role: 'admin',
    effect: 'change',
    needsIfMatch: true,
    input: changes,
    output: clientShape,
    describe: ({ id, ...changed }) => ({
      ...describeClient({ id }),
      details: { changed: Object.keys(changed) },
    }),
    async run({ id, ...change }, context) {
      const client = await requireChangeable(id, context)
      requireVersion(client, context)
      if (!isManagement(client)) refuseAdminScopes(change.scopes)
      const { updatedAt: unchangedSince } = client
      return clientJson(
        await context.oauth.clients.update(id, { ...toLibrary(change), unchangedSince }),
        context,
      )
    },
  }),
  operation({
    name: 'clients.rotateSecret',
    summary: 'Rotate the secret of an application',
    description:
      'Both secrets work until the overlap ends, and refresh tokens stay valid. A second rotation revokes the oldest secret immediately.',
    route: ['POST', '/clients/{id}/rotate-secret'],
    role: 'admin',
    effect: 'change',
    input: z.strictObject({
      id,
      overlap_hours: z
        .number()
        .positive()
        .max(720)
        .default(24)
        .describe('Number of hours during which both secrets work'),
    }),
    output: withSecret,
    forRepeats: withoutSecret,
    describe: ({ id, overlap_hours }) => ({
      ...describeClient({ id }),
      details: { overlap_hours },
    }),
    async run({ id, overlap_hours: hours }, context) {
      await requireChangeable(id, context)
      const overlap = Math.round(hours * 3600)
      const { client, secret } = await context.oauth.clients.rotateSecret(id, { overlap })
      return { ...clientJson(client, context), secret }
    },
  }),
  operation({
    name: 'clients.replaceLeakedSecret',
    summary: 'Replace a leaked secret of an application',
    description:
      'The old secret, its refresh tokens and the tokens that the application got for itself are revoked. The response takes one to two seconds, until every process knows the new secret.',
    route: ['POST', '/clients/{id}/replace-leaked-secret'],
    role: 'admin',
    effect: 'irreversible',
    // Tokens are revoked once the other processes know of the change, which must be committed before.
    commits: 'in-steps',
    input: z.strictObject({ id }),
    output: withSecret,
    forRepeats: withoutSecret,
    describe: describeClient,
    async run({ id }, context) {
      await requireChangeable(id, context)
      const { client, secret } = await context.oauth.clients.rotateSecret(id)
      return { ...clientJson(client, context), secret }
    },
  }),
  operation({
    name: 'clients.endPreviousSecret',
    summary: 'End the overlap of a planned rotation early',
    route: ['DELETE', '/clients/{id}/previous-secret'],
    role: 'admin',
    effect: 'change',
    input: z.strictObject({ id }),
    output: clientShape,
    describe: describeClient,
    async run({ id }, context) {
      await requireChangeable(id, context)
      return clientJson(await context.oauth.clients.endPreviousSecret(id), context)
    },
  }),
  operation({
    name: 'clients.verify',
    summary: 'Mark an application as verified, so that people are not warned about it',
    route: ['PUT', '/clients/{id}/verification'],
    role: 'admin',
    effect: 'change',
    input: z.strictObject({ id }),
    output: clientShape,
    describe: describeClient,
    run: async ({ id }, context) => clientJson(await context.oauth.clients.verify(id), context),
  }),
  operation({
    name: 'clients.unverify',
    summary: 'Withdraw the verification of an application',
    route: ['DELETE', '/clients/{id}/verification'],
    role: 'admin',
    effect: 'change',
    input: z.strictObject({ id }),
    output: clientShape,
    describe: describeClient,
    run: async ({ id }, context) => clientJson(await context.oauth.clients.unverify(id), context),
  }),
  operation({
    name: 'clients.revoke',
    summary: 'Delete an application with all its tokens',
    route: ['DELETE', '/clients/{id}'],
    role: 'admin',
    effect: 'irreversible',
    status: 204,
    input: z.strictObject({ id }),
    output: z.null(),
    describe: describeClient,
    async run({ id }, context) {
      await requireChangeable(id, context)
      await context.oauth.clients.revoke(id)
      return null
    },
  }),
]
