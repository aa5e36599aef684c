import type { AuthorizationServer, GrantType, NewClient } from '@tollgate/oauth'
import type { User } from '../../../users/user.ts'
import { type Command, type CommandInput, textOption, UsageError } from '../../command.ts'
import { withCore } from '../../open.ts'

interface Kind {
  readonly grants: readonly GrantType[]
  readonly confidential: boolean
  /** The setting that offers its grant, where one can switch it off. */
  readonly setting?: 'passwordGrant' | 'deviceGrant' | 'exchangeGrant' | 'trustedIssuers'
}

const WEB: Kind = { grants: ['authorization_code', 'refresh_token'], confidential: true }

/** What the switches of the command stand for. */
const KINDS: Readonly<Record<string, Kind>> = {
  password: {
    grants: ['password', 'refresh_token'],
    confidential: true,
    setting: 'passwordGrant',
  },
  public: { grants: WEB.grants, confidential: false },
  credentials: { grants: ['client_credentials'], confidential: true },
  device: {
    grants: ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'],
    confidential: false,
    setting: 'deviceGrant',
  },
  exchange: {
    grants: ['urn:ietf:params:oauth:grant-type:token-exchange'],
    confidential: true,
    setting: 'exchangeGrant',
  },
  assertion: {
    grants: ['urn:ietf:params:oauth:grant-type:jwt-bearer'],
    confidential: true,
    setting: 'trustedIssuers',
  },
  workload: {
    grants: ['urn:ietf:params:oauth:grant-type:jwt-bearer'],
    confidential: false,
    setting: 'trustedIssuers',
  },
}

export const clientCreate: Command = {
  summary: 'register an application; its secret is shown this once',
  options: [
    { flags: '--name <text>', description: 'shown to people who approve it', required: true },
    {
      flags: '--redirect <url>',
      description: 'where people come back to; may be given several times',
      several: true,
    },
    { flags: '--user <id>', description: 'the person it belongs to' },
    { flags: '--password', description: 'for the password grant: an application of your own' },
    { flags: '--personal', description: 'the client personal access tokens hang on' },
    { flags: '--public', description: 'cannot keep a secret: a browser or mobile application' },
    { flags: '--credentials', description: 'acts for itself: the client credentials grant' },
    { flags: '--device', description: 'a device on which people cannot type: the device flow' },
    { flags: '--exchange', description: 'a service of your own that exchanges tokens' },
    { flags: '--assertion', description: 'shows assertions of trusted issuers about people' },
    { flags: '--workload', description: 'a CI job or pod that a trusted issuer speaks for' },
    { flags: '--implicit', description: 'may also use the implicit grant' },
    {
      flags: '--setting <name=value>',
      description:
        'what OpenID Connect and its neighbours know of a client, such as backchannel_logout_uri=https://…; lists as JSON; may be given several times',
      several: true,
    },
  ],
  async run(input, context) {
    const chosen = [...Object.keys(KINDS), 'personal'].filter(
      (kind) => input.options[kind] === true,
    )
    if (chosen.length > 1) {
      throw new UsageError(`Give one of --${chosen.join(' and --')}, not ${chosen.length}`)
    }
    const [kind = 'web'] = chosen
    const config = await context.config(['secret'])
    const setting = KINDS[kind]?.setting
    if (setting && isOff(config.settings[setting])) {
      throw new UsageError(`The ${kind} grant is switched off: see ${setting} in the settings`)
    }
    if (input.options.implicit === true && !config.settings.implicitGrant) {
      throw new UsageError('The implicit grant is switched off: see implicitGrant in the settings')
    }
    return withCore(
      config,
      async ({ oauth, users }) => {
        const userId = textOption(input, 'user')
        if (userId !== null && !(await users.findById(userId))) {
          throw new UsageError(`There is no user ${userId}; make one: tollgate user create`)
        }
        const settings = readSettings(input)
        const created =
          kind === 'personal'
            ? await personal(oauth)
            : await create(oauth, { input, kind, userId, settings })
        const secret = created.secret === null ? 'none' : created.secret
        return { json: created, text: `Client id      ${created.id}\nClient secret  ${secret}` }
      },
      { alsoInApplications: true, makesTables: true },
    )
  },
}

async function personal(oauth: AuthorizationServer<User>) {
  return { id: (await oauth.clients.personal()).id, secret: null }
}

interface Wanted {
  readonly input: CommandInput
  readonly kind: string
  readonly userId: string | null
  readonly settings: NonNullable<NewClient['settings']>
}

/** The server says what is wrong with a name or a value. */
function readSettings({ options }: CommandInput): Wanted['settings'] {
  const given = (options.setting as string[] | undefined) ?? []
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

/** JSON where it is some, otherwise the text itself: addresses need no quotation marks. */
function parseValue(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

async function create(
  oauth: AuthorizationServer<User>,
  { input, kind, userId, settings }: Wanted,
): Promise<{ id: string; secret: string | null }> {
  const { grants, confidential } = KINDS[kind] ?? WEB
  const wanted: NewClient = {
    name: textOption(input, 'name') ?? '',
    redirect: (input.options.redirect as string[] | undefined) ?? [],
    grants: input.options.implicit === true ? [...grants, 'implicit'] : grants,
    confidential,
    userId,
    settings,
  }
  const { client, secret } = await oauth.clients.create(wanted)
  return { id: client.id, secret }
}

/** Switched off, or with nothing in its list. */
function isOff(setting: boolean | readonly unknown[]): boolean {
  return setting === false || (Array.isArray(setting) && setting.length === 0)
}
