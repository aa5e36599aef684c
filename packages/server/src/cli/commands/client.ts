import { type Clients, isVerifiedClient, kyselyStorage, toClientJson } from '@tollgate/oauth'
import { AdminProblem } from '../../admin/problems.ts'
import { requirePart, withApplication } from '../application/open.ts'
import {
  type ManagedClient,
  parseGrantType,
  readSettings,
  type WithSecret,
} from '../client-input.ts'
import {
  describeOrigin,
  describeSelfRegistered,
  findHostOrScheme,
  formatVerificationLabel,
} from '../client-origin.ts'
import { type CommandContext, type CommandResult, type Commands, command } from '../command.ts'
import { ALSO_IN_APPLICATIONS, withTables } from '../open.ts'
import { type OpenOperations, withOperations } from '../open-operations.ts'
import * as option from '../options.ts'
import { formatFields, formatTable } from '../table.ts'
import { UsageError } from '../usage-error.ts'
import { clientCreate } from './client-create.ts'

const ID = {
  name: 'id',
  description: 'id from `tollgate client list`, or URL of the metadata document',
}
const YES_OR_NO = ['yes', 'no'] as const

export const clientCommands: Commands = {
  'client create': clientCreate,
  'client list': command({
    summary: 'list the registered applications',
    withConfig: true,
    options: { user: option.text('<id>', 'only those of this user') },
    async run({ options: { user: userId } }, context) {
      return withClients(context, async (clients) => {
        const found = userId ? await clients.listByUser(userId) : await clients.list()
        const rows = found.map((client) => ({
          ...toClientJson(client),
          grants: client.grantTypes,
          verified: isVerifiedClient(client),
          self_registered: describeOrigin(client),
        }))
        const lines = rows.map((row) => {
          const { id, name, grants, revoked, user_id, verified, self_registered: origin } = row
          const whose =
            user_id === null ? '' : `(registered by a user, ${formatVerificationLabel(verified)})`
          return [
            id,
            name,
            revoked ? 'revoked' : grants.join(' '),
            origin ? describeSelfRegistered(origin) : whose,
          ]
        })
        const headers = ['ID', 'NAME', 'GRANTS', 'ORIGIN']
        return { json: rows, text: formatTable(headers, lines, 'There are no clients') }
      })
    },
  }),
  'client show': command({
    summary: 'show an application with its grants, scopes and settings',
    withConfig: true,
    arguments: [ID],
    run: ({ args: [id = ''] }, context) =>
      withOperations(context, { ...ALSO_IN_APPLICATIONS, onlyReads: true }, async ({ perform }) =>
        describeClient(
          await withUnknownClientError(id, perform<ManagedClient>('clients.get', { id })),
        ),
      ),
  }),
  'client update': command({
    summary: 'change an application; omitted options keep their values',
    withConfig: true,
    arguments: [ID],
    options: {
      name: option.text('<text>', 'name shown to people on the approval page'),
      redirect: option.several('<url>', 'redirect URIs, which replace all existing ones'),
      grant: option.several('<type>', 'grant types, which replace all existing ones'),
      scope: option.several('<scope>', 'scopes, which replace all existing ones'),
      anyScope: option.flag('may request every scope'),
      firstParty: option.choice(YES_OR_NO, '<yes|no>', 'whether the approval page is skipped'),
      resourceServer: option.choice(
        YES_OR_NO,
        '<yes|no>',
        'whether it may introspect the tokens of every client',
      ),
      setting: option.several('<name=value>', 'client metadata; the value null removes it'),
    },
    run: ({ args: [id = ''], options }, context) => {
      const change = readChange(options)
      if (Object.keys(change).length === 0) {
        throw new UsageError('Nothing to change: give at least one option, see --help')
      }
      return withOperations(context, ALSO_IN_APPLICATIONS, async ({ perform }) => {
        const updated = perform<ManagedClient>('clients.update', { id, ...change })
        return describeClient(await withUnknownClientError(id, updated))
      })
    },
  }),
  'client secret': command({
    summary: 'replace the secret of an application; the new one is shown only once',
    withConfig: true,
    arguments: [ID],
    options: {
      overlap: option.text('<time>', 'how long the old secret still works, 24h by default'),
      leaked: option.flag('revoke the old secret and its tokens immediately'),
    },
    run: ({ args: [id = ''], options: { overlap, leaked } }, context) => {
      if (leaked && overlap !== null) {
        throw new UsageError(
          '--leaked and --overlap cannot be combined: a leaked secret is revoked immediately',
        )
      }
      const hours = parseHours(overlap ?? '24h')
      return withOperations(context, ALSO_IN_APPLICATIONS, async ({ perform }) => {
        const rotated = leaked
          ? perform<WithSecret>('clients.replaceLeakedSecret', { id })
          : perform<WithSecret>('clients.rotateSecret', { id, overlap_hours: hours })
        const { secret, previous_secret_until: until } = await withUnknownClientError(id, rotated)
        const old =
          until === null
            ? 'The old secret and its refresh tokens are revoked.'
            : `The old secret works until ${until}.`
        return {
          json: { id, secret, previous_secret_until: until },
          text: `Client id      ${id}\nClient secret  ${secret ?? 'none'}\n${old}`,
        }
      })
    },
  }),
  'client verify': command({
    summary: 'mark an application that registered itself, or that a user registered, as verified',
    withConfig: true,
    arguments: [ID],
    run: ({ args: [id = ''] }, context) =>
      withOperations(context, ALSO_IN_APPLICATIONS, (opened) =>
        review(id, opened, {
          verified: true,
          sentence: (name) => `Verified ${name}: people are no longer warned about it`,
        }),
      ),
  }),
  'client unverify': command({
    summary: 'withdraw the verification of an application: people are warned about it again',
    withConfig: true,
    arguments: [ID],
    run: ({ args: [id = ''] }, context) =>
      withOperations(context, ALSO_IN_APPLICATIONS, (opened) =>
        review(id, opened, {
          verified: false,
          sentence: (name) => `${name} is not verified: people are warned about it`,
        }),
      ),
  }),
  'client delete': command({
    summary: 'delete an application with all its tokens, on every process within a second',
    withConfig: true,
    arguments: [ID],
    run: ({ args: [id = ''] }, context) =>
      deleteClient(id, context, {
        json: { id, deleted: true },
        text: `Deleted the client ${id} and all its tokens`,
      }),
  }),
  'client revoke': command({
    summary: 'delete an application with all its tokens, as `client delete` does',
    withConfig: true,
    arguments: [ID],
    run: ({ args: [id = ''] }, context) =>
      deleteClient(id, context, {
        json: { id, revoked: true },
        text: `Revoked the client ${id} and all its tokens`,
      }),
  }),
}

/** Runs `work` with the list of clients, without creating tables or keys. */
async function withClients<T>(
  context: CommandContext,
  work: (clients: Pick<Clients, 'list' | 'listByUser'>) => Promise<T>,
): Promise<T> {
  if (context.application !== null) {
    return withApplication(context, [], async (application) =>
      work((await requirePart(application, 'oauth')).clients),
    )
  }
  const config = await context.config([])
  return withTables(config, ['oauth'], (database) => work(kyselyStorage(database).clients))
}

interface ChangeOptions {
  readonly name: string | null
  readonly redirect: readonly string[]
  readonly grant: readonly string[]
  readonly scope: readonly string[]
  readonly anyScope: boolean
  readonly firstParty: 'yes' | 'no' | null
  readonly resourceServer: 'yes' | 'no' | null
  readonly setting: readonly string[]
}

/** The fields to change, as `clients.update` takes them. */
function readChange({ name, redirect, grant, scope, setting, ...rest }: ChangeOptions) {
  const { anyScope, firstParty, resourceServer } = rest
  if (anyScope && scope.length > 0) {
    throw new UsageError('--any-scope and --scope cannot be combined')
  }
  return {
    ...(name !== null && { name }),
    ...(redirect.length > 0 && { redirect_uris: redirect }),
    ...(grant.length > 0 && { grants: grant.map(parseGrantType) }),
    ...(scope.length > 0 && { scopes: scope }),
    ...(anyScope && { scopes: null }),
    ...(firstParty !== null && { first_party: firstParty === 'yes' }),
    ...(resourceServer !== null && { resource_server: resourceServer === 'yes' }),
    ...(setting.length > 0 && { settings: readSettings(setting) }),
  }
}

const HOURS: Readonly<Record<string, number>> = { m: 1 / 60, h: 1, d: 24 }

/** Parses a time such as `24h`, `30m` or `7d`. */
function parseHours(text: string): number {
  const [, number = '', unit = ''] = /^(\d{1,5})([mhd])$/.exec(text) ?? []
  const hours = Number(number) * (HOURS[unit] ?? 0)
  if (hours > 0 && hours <= 720) return hours
  throw new UsageError(`--overlap expects a time of up to 30 days, such as 24h or 7d, not ${text}`)
}

function describeClient(client: ManagedClient): CommandResult {
  const { settings, scopes, revoked_at: revoked, previous_secret_until: until } = client
  const yes = (is: boolean) => (is ? 'yes' : 'no')
  const text = formatFields({
    Id: client.id,
    Name: client.name,
    'Redirect URIs': client.redirect_uris.join(' ') || 'none',
    Grants: client.grants.join(' '),
    Scopes: scopes === null ? 'any' : scopes.join(' ') || 'none',
    'Has a secret or key': yes(client.confidential),
    'First party': yes(client.first_party),
    'Resource server': yes(client.resource_server),
    'Registered by': client.user_id === null ? client.registered_by : `user ${client.user_id}`,
    Verified: yes(client.verified),
    Created: client.created_at,
    ...(until !== null && { 'Old secret until': until }),
    ...(revoked !== null && { Revoked: revoked }),
    ...Object.fromEntries(
      Object.entries(settings).map(([name, value]) => [name, JSON.stringify(value)]),
    ),
  })
  return { json: client, text }
}

function deleteClient(
  id: string,
  context: CommandContext,
  outcome: CommandResult,
): Promise<CommandResult> {
  return withOperations(context, ALSO_IN_APPLICATIONS, async ({ perform }) => {
    await withUnknownClientError(id, perform('clients.revoke', { id }))
    return outcome
  })
}

/** Verifies an application, or withdraws the verification. */
async function review(
  id: string,
  { oauth, perform }: OpenOperations,
  { verified, sentence }: { verified: boolean; sentence: (name: string) => string },
): Promise<CommandResult> {
  await withUnknownClientError(
    id,
    perform(verified ? 'clients.verify' : 'clients.unverify', { id }),
  )
  const client = await oauth.clients.find(id)
  if (!client) throw new UsageError(`"${id}" was deleted just now`)
  // A client without a recorded origin is identified by the host of its first redirect URI.
  const host = (describeOrigin(client) ?? { host: findHostOrScheme(client.redirectUris[0]) }).host
  return {
    json: { id: client.id, name: client.name, host, verified },
    text: sentence(`${client.name}${host === null ? '' : ` (${host})`}`),
  }
}

/** Turns "not found" into a `UsageError` that repeats the id as it was typed. */
async function withUnknownClientError<T>(id: string, asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (!(error instanceof AdminProblem) || error.problem !== 'not-found') throw error
    const why = error.cause instanceof Error ? error.cause.message : 'There is no such client.'
    throw new UsageError(`"${id}": ${why} \`tollgate client list\` lists the known clients`)
  }
}
