import type { GrantType } from '@tollgate/oauth'
import type { Config } from '../../config/config.ts'
import {
  GRANT_TYPE_URN_PREFIX,
  parseGrantType,
  readSettings,
  type WithSecret,
} from '../client-input.ts'
import { type CommandContext, type CommandResult, command } from '../command.ts'
import { ALSO_IN_APPLICATIONS } from '../open.ts'
import { withOperations } from '../open-operations.ts'
import * as option from '../options.ts'
import { UsageError } from '../usage-error.ts'

/**
 * Describes a kind of client. `setting` names the setting that switches its grant on or off, if
 * there is one.
 */
const defineClientKind = (
  grants: readonly GrantType[],
  confidential: boolean,
  setting?: 'passwordGrant' | 'deviceGrant' | 'exchangeGrant' | 'trustedIssuers',
) => ({ grants, confidential, setting })

const WEB = defineClientKind(['authorization_code', 'refresh_token'], true)

/** Kinds of clients by the name of their option, such as `--device`. */
const KINDS: Readonly<Record<string, typeof WEB>> = {
  password: defineClientKind(['password', 'refresh_token'], true, 'passwordGrant'),
  public: defineClientKind(WEB.grants, false),
  credentials: defineClientKind(['client_credentials'], true),
  device: defineClientKind(
    [`${GRANT_TYPE_URN_PREFIX}device_code`, 'refresh_token'],
    false,
    'deviceGrant',
  ),
  exchange: defineClientKind([`${GRANT_TYPE_URN_PREFIX}token-exchange`], true, 'exchangeGrant'),
  assertion: defineClientKind([`${GRANT_TYPE_URN_PREFIX}jwt-bearer`], true, 'trustedIssuers'),
  workload: defineClientKind([`${GRANT_TYPE_URN_PREFIX}jwt-bearer`], false, 'trustedIssuers'),
}

export const clientCreate = command({
  summary: 'register an application; its secret is shown only once',
  withConfig: true,
  options: {
    name: option.required('<text>', 'name shown to people on the approval page'),
    redirect: option.several('<url>', 'redirect URI; may be given several times'),
    user: option.text('<id>', 'id of the user who owns it'),
    password: option.flag('your own application, for the password grant'),
    personal: option.flag('the client for personal access tokens'),
    public: option.flag('cannot keep a secret: a browser or mobile application'),
    credentials: option.flag('acts on its own behalf: the client credentials grant'),
    device: option.flag('a device without a keyboard: the device flow'),
    exchange: option.flag('your own service that exchanges tokens'),
    assertion: option.flag("presents trusted issuers' assertions about people"),
    workload: option.flag('a CI job or pod that a trusted issuer identifies'),
    management: option.flag('calls the management API, with the scopes of --scope'),
    implicit: option.flag('may also use the implicit grant'),
    grant: option.several(
      '<type>',
      'additional grant type, such as token-exchange; may be given several times',
    ),
    scope: option.several('<scope>', 'scope that it may request; may be given several times'),
    firstParty: option.flag('your own application: people are not asked for approval'),
    resourceServer: option.flag('an API that may introspect the tokens of every client'),
    setting: option.several(
      '<name=value>',
      'client metadata such as backchannel_logout_uri=https://…; lists as JSON; may be given several times',
    ),
  },
  async run({ options }, context) {
    const kind = chosenKind(options)
    // An application's own server rejects the grants that it does not offer.
    if (context.application === null) {
      assertSwitchedOn(kind, options.implicit, await context.config(['secret']))
    }
    const settings = readSettings(options.setting)
    if (kind === 'management') {
      if (context.application !== null) throw new UsageError(NO_MANAGEMENT)
      return createForManagement(options, context)
    }
    const { name, redirect, user: userId, scope: scopes } = options
    return withOperations(
      context,
      { ...ALSO_IN_APPLICATIONS, makesTables: true },
      async ({ oauth, users, perform }) => {
        const isKnown = async (id: string) =>
          context.application !== null || (await users.findById(id)) !== null
        if (userId !== null && !(await isKnown(userId))) {
          throw new UsageError(`There is no user ${userId}; create one: tollgate user create`)
        }
        if (kind === 'personal') {
          return reportSecret({ id: (await oauth.clients.personal()).id, secret: null })
        }
        const { grants, confidential } = KINDS[kind] ?? WEB
        const further = [...(options.implicit ? ['implicit'] : []), ...options.grant]
        return reportSecret(
          await perform<WithSecret>('clients.create', {
            name,
            redirect_uris: redirect,
            grants: [...new Set([...grants, ...further.map(parseGrantType)])],
            confidential,
            user_id: userId,
            settings,
            first_party: options.firstParty,
            resource_server: options.resourceServer,
            ...(scopes.length > 0 && { scopes }),
          }),
        )
      },
    )
  },
})

const NO_MANAGEMENT =
  '--management is for the management API of the service, which an application does not have'

/** Finds the kind of client that the switches choose. */
function chosenKind(switches: Readonly<Record<string, unknown>>): string {
  const kinds = [...Object.keys(KINDS), 'personal', 'management']
  const chosen = kinds.filter((kind) => switches[kind])
  if (chosen.length > 1) throw new UsageError(`--${chosen.join(' and --')} cannot be combined`)
  return chosen[0] ?? 'web'
}

function assertSwitchedOn(kind: string, implicit: boolean, { settings }: Config): void {
  const setting = KINDS[kind]?.setting
  if (setting && isSwitchedOff(settings[setting])) {
    throw new UsageError(`The ${kind} grant is switched off: see ${setting} in the settings`)
  }
  if (implicit && !settings.implicitGrant) {
    throw new UsageError('The implicit grant is switched off: see implicitGrant in the settings')
  }
}

interface ManagementOptions {
  readonly name: string
  readonly redirect: readonly string[]
  readonly user: string | null
  readonly scope: readonly string[]
  readonly grant: readonly string[]
  readonly setting: readonly string[]
  readonly implicit: boolean
  readonly firstParty: boolean
  readonly resourceServer: boolean
}

/** Creates a client of the management API, which has scopes and no other options. */
function createForManagement(
  { name, scope: scopes, ...others }: ManagementOptions,
  context: CommandContext,
): Promise<CommandResult> {
  const { redirect, user, grant, setting, implicit, firstParty, resourceServer } = others
  const given = [...redirect, ...grant, ...setting, ...(user === null ? [] : [user])]
  if (given.length > 0 || implicit || firstParty || resourceServer) {
    throw new UsageError('--management takes only --name and --scope')
  }
  if (scopes.length === 0) {
    throw new UsageError('--management needs at least one --scope, such as admin.users:read')
  }
  return withOperations(context, {}, async ({ perform }) =>
    reportSecret(await perform<WithSecret>('clients.createForManagement', { name, scopes })),
  )
}

function reportSecret({ id, secret }: Pick<WithSecret, 'id' | 'secret'>): CommandResult {
  return {
    json: { id, secret },
    text: `Client id      ${id}\nClient secret  ${secret ?? 'none'}`,
  }
}

/** Whether the setting is `false` or an empty list. */
function isSwitchedOff(setting: boolean | readonly unknown[]): boolean {
  return setting === false || (Array.isArray(setting) && setting.length === 0)
}
