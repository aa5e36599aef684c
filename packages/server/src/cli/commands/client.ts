import {
  type AuthorizationServer,
  type Client,
  clientJson,
  type GrantType,
  isOAuthError,
  isVerified,
  kyselyStorage,
  type NewClient,
} from '@tollgate/oauth'
import type { User } from '../../users/user.ts'
import { type Commands, command } from '../command.ts'
import { ALSO_IN_APPLICATIONS, withCore, withTables } from '../open.ts'
import * as option from '../options.ts'
import { UsageError } from '../usage-error.ts'

/**
 * Describes a kind of client. `setting` names the setting that switches its grant on or off, if
 * there is one.
 */
const kind = (
  grants: readonly GrantType[],
  confidential: boolean,
  setting?: 'passwordGrant' | 'deviceGrant' | 'exchangeGrant' | 'trustedIssuers',
) => ({ grants, confidential, setting })

const WEB = kind(['authorization_code', 'refresh_token'], true)
const URN = 'urn:ietf:params:oauth:grant-type:'

/** Kinds of clients by the name of their option, such as `--device`. */
const KINDS: Readonly<Record<string, typeof WEB>> = {
  password: kind(['password', 'refresh_token'], true, 'passwordGrant'),
  public: kind(WEB.grants, false),
  credentials: kind(['client_credentials'], true),
  device: kind([`${URN}device_code`, 'refresh_token'], false, 'deviceGrant'),
  exchange: kind([`${URN}token-exchange`], true, 'exchangeGrant'),
  assertion: kind([`${URN}jwt-bearer`], true, 'trustedIssuers'),
  workload: kind([`${URN}jwt-bearer`], false, 'trustedIssuers'),
}

const ID = {
  name: 'id',
  description: 'id from `tollgate client list`, or URL of the metadata document',
}
export const clientCommands: Commands = {
  'client create': command({
    summary: 'register an application; its secret is shown only once',
    options: {
      name: option.required('<text>', 'shown to people who approve it'),
      redirect: option.several('<url>', 'redirect URI; may be given several times'),
      user: option.text('<id>', 'id of the user who owns it'),
      password: option.flag('your own application, for the password grant'),
      personal: option.flag('the client for personal access tokens'),
      public: option.flag('cannot keep a secret: a browser or mobile application'),
      credentials: option.flag('acts on its own behalf: the client credentials grant'),
      device: option.flag('a device without a keyboard: the device flow'),
      exchange: option.flag('your own service that exchanges tokens'),
      assertion: option.flag('presents assertions of trusted issuers about people'),
      workload: option.flag('a CI job or pod that a trusted issuer identifies'),
      implicit: option.flag('may also use the implicit grant'),
      setting: option.several(
        '<name=value>',
        'client metadata such as backchannel_logout_uri=https://…; lists as JSON; may be given several times',
      ),
    },
    async run({ options }, context) {
      const switches: Readonly<Record<string, unknown>> = options
      const chosen = [...Object.keys(KINDS), 'personal'].filter((kind) => switches[kind])
      if (chosen.length > 1) {
        throw new UsageError(`--${chosen.join(' and --')} exclude each other`)
      }
      const [kind = 'web'] = chosen
      const { settings: offered } = await context.config(['secret'])
      const setting = KINDS[kind]?.setting
      if (setting && isOff(offered[setting])) {
        throw new UsageError(`The ${kind} grant is switched off: see ${setting} in the settings`)
      }
      if (options.implicit && !offered.implicitGrant) {
        throw new UsageError(
          'The implicit grant is switched off: see implicitGrant in the settings',
        )
      }
      return withCore(
        context,
        { ...ALSO_IN_APPLICATIONS, makesTables: true },
        async ({ oauth, users }) => {
          const { user: userId } = options
          if (userId !== null && !(await users.findById(userId))) {
            throw new UsageError(`There is no user ${userId}; create one: tollgate user create`)
          }
          const settings = readSettings(options.setting)
          const created =
            kind === 'personal'
              ? { id: (await oauth.clients.personal()).id, secret: null }
              : await create(oauth, { ...options, kind, userId, settings })
          const { id, secret } = created
          return { json: created, text: `Client id      ${id}\nClient secret  ${secret ?? 'none'}` }
        },
      )
    },
  }),
  'client list': command({
    summary: 'list the registered applications',
    options: { user: option.text('<id>', 'only those of this user') },
    async run({ options: { user: userId } }, context) {
      const config = await context.config([])
      return withTables(config, ['oauth'], async (database) => {
        const { clients } = kyselyStorage(database)
        const found = userId ? await clients.listByUser(userId) : await clients.list()
        const rows = found.map((client) => ({
          ...clientJson(client),
          grants: client.grantTypes,
          verified: isVerified(client),
          self_registered: describeOrigin(client),
        }))
        const lines = rows.map((row) => {
          const { id, name, grants, revoked, user_id, verified, self_registered: origin } = row
          const state = revoked ? 'revoked' : grants.join(' ')
          const whose =
            user_id === null ? '' : `  (registered by a user, ${verificationLabel(verified)})`
          return `${id.padEnd(38)}${name.padEnd(32)}${state}${origin ? `  ${describeSelfRegistered(origin)}` : whose}`
        })
        return { json: rows, text: lines.join('\n') || 'There are no clients' }
      })
    },
  }),
  'client verify': command({
    summary: 'mark an application as verified that registered itself, or that a user registered',
    arguments: [ID],
    run: ({ args: [id = ''] }, context) =>
      withCore(context, ALSO_IN_APPLICATIONS, async ({ oauth }) => {
        const client = await orUnknownClient(id, oauth.clients.verify(id))
        // A client without a recorded origin is identified by the host of its first redirect URI.
        const host = (describeOrigin(client) ?? { host: hostOf(client.redirectUris[0]) }).host
        return {
          json: { id: client.id, name: client.name, host, verified: true },
          text: `Verified ${client.name}${host === null ? '' : ` (${host})`}: people are no longer warned about it`,
        }
      }),
  }),
  'client revoke': command({
    summary: 'revoke an application with all its tokens, on every process within a second',
    arguments: [ID],
    run: ({ args: [id = ''] }, context) =>
      withCore(context, ALSO_IN_APPLICATIONS, async ({ oauth }) => {
        await orUnknownClient(id, oauth.clients.revoke(id))
        return { json: { id, revoked: true }, text: `Revoked the client ${id} and all its tokens` }
      }),
  }),
}

interface Wanted {
  readonly name: string
  readonly redirect: readonly string[]
  readonly implicit: boolean
  readonly kind: string
  readonly userId: string | null
  readonly settings: NonNullable<NewClient['settings']>
}

/** Splits `name=value` pairs. The authorization server validates names and values. */
function readSettings(given: readonly string[]): Wanted['settings'] {
  return Object.fromEntries(
    given.map((text) => {
      const [, name, value] = /^(\w+)=(.*)$/s.exec(text) ?? []
      if (name === undefined || value === undefined) {
        throw new UsageError(`--setting expects name=value, not ${text}`)
      }
      return [name, parseValue(value)]
    }),
  )
}

/** Parses JSON if the text is valid JSON, else returns the text: a URL needs no quotation marks. */
function parseValue(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

async function create(
  oauth: AuthorizationServer<User>,
  { name, redirect, implicit, kind, userId, settings }: Wanted,
): Promise<{ id: string; secret: string | null }> {
  const { grants, confidential } = KINDS[kind] ?? WEB
  const wanted: NewClient = {
    name,
    redirect,
    grants: implicit ? [...grants, 'implicit'] : grants,
    confidential,
    userId,
    settings,
  }
  const { client, secret } = await oauth.clients.create(wanted)
  return { id: client.id, secret }
}

/** Whether the setting is `false` or an empty list. */
function isOff(setting: boolean | readonly unknown[]): boolean {
  return setting === false || (Array.isArray(setting) && setting.length === 0)
}

/** Turns "not found" into a `UsageError` that repeats the id as it was typed. */
async function orUnknownClient<T>(id: string, asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (!isOAuthError(error, 'not_found')) throw error
    const message = `"${id}": ${error.message} \`tollgate client list\` lists the known clients`
    throw new UsageError(message)
  }
}

/** How a client came here that was not registered by a user or an operator. */
interface Origin {
  readonly by: 'registration' | 'document'
  /**
   * Host of its metadata document, else of its first redirect URI; for an app the URI scheme.
   * `null` if it has neither.
   */
  readonly host: string | null
  readonly verified: boolean
}

/** Describes the origin of a client that registered itself. `null` for any other client. */
function describeOrigin({ settings, redirectUris }: Client): Origin | null {
  const { self_registered: registration } = settings
  if (!registration) return null
  const { by, document, verified = false } = registration
  return { by, host: hostOf(document ?? redirectUris[0]), verified }
}

/** Host of a URL, or the scheme of an app's URI. `null` if there is none. */
function hostOf(address: string | undefined): string | null {
  if (address === undefined || !URL.canParse(address)) return null
  const { host, protocol } = new URL(address)
  return host || protocol
}

function describeSelfRegistered({ by, host, verified }: Origin): string {
  const how = by === 'document' ? 'described by a document' : 'registered itself'
  const where = host === null ? '' : `, ${host}`
  return `(${how}${where}, ${verificationLabel(verified)})`
}

function verificationLabel(verified: boolean): string {
  return verified ? 'verified' : 'unverified'
}
