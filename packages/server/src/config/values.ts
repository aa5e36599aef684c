import { isIP } from 'node:net'
import { isDeliverySecret } from '@tollgate/billing'
import { findDatabaseFile } from '@tollgate/database'
import { z } from 'zod'
import { isEmail } from '../users/parse.ts'

/** Whether the value is an IP address such as `10.0.0.7`, or a network such as `10.0.0.0/8`. */
export function isNetwork(value: string): boolean {
  const [address = '', bits, ...more] = value.split('/')
  const family = isIP(address)
  if (family === 0 || more.length > 0) return false
  return bits === undefined || (/^\d+$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
}

/** Whether the value is a host name, optionally with a port. */
export function isHost(value: string): boolean {
  return URL.canParse(`https://${value}/`) && new URL(`https://${value}/`).host === value
}

/**
 * Whether the function returns without throwing. Used to validate values with library functions
 * that throw on invalid options.
 */
export function isAccepted(use: () => unknown): boolean {
  try {
    use()
    return true
  } catch {
    return false
  }
}

export const WEBHOOK_SECRET_FORMAT =
  'whsec_ followed by 24 to 64 bytes in base64: echo "whsec_$(openssl rand -base64 32)"'

const PERIOD_WANTED = "expected a lifetime such as '15d' or '90m', or a whole number of seconds"

/** Schema of a period as the libraries write it. */
export const period = z.union(
  [z.string().regex(/^\d+[smhdwy]$/, PERIOD_WANTED), z.number().int().positive()],
  { error: PERIOD_WANTED },
)

/**
 * Validates values with a library function that throws a TypeError on invalid ones. Its message is
 * reported without the function's name, which the setting's name replaces.
 */
export const acceptedBy =
  <Value>(use: (value: Value) => unknown) =>
  (value: Value, context: z.RefinementCtx): void => {
    if (context.issues.length > 0) return
    try {
      use(value)
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      context.addIssue({ code: 'custom', message: error.message.replace(/^\w+(\(\))?: /, '') })
    }
  }

export const network = z
  .string()
  .refine(isNetwork, { message: 'expected an IP address or a network such as 10.0.0.0/8' })

// Parsers for environment variables. Error messages continue the name of the variable, and never
// contain a value that may be secret.

export const text = z.string().trim().min(1, 'is blank')
export const secret = z.string().refine((value) => value.trim().length >= 32, {
  message: 'needs at least 32 random characters, e.g. from `openssl rand -base64 32`',
})
export const wholeNumberInRange = (from: number, to: number) =>
  z
    .string()
    .refine((value) => /^\d+$/.test(value) && Number(value) >= from && Number(value) <= to, {
      error: ({ input }) => `is '${input}', but must be a whole number from ${from} to ${to}`,
    })
    .transform(Number)

export const autoOrCount = (most: number) =>
  z
    .string()
    .refine((value) => value === 'auto' || (/^[1-9]\d{0,8}$/.test(value) && +value <= most), {
      error: ({ input }) => `is '${input}', but must be auto or a whole number from 1 to ${most}`,
    })
    .transform((value) => (value === 'auto' ? value : Number(value)))
/** Schema of a period: `15d`, `90m`, or whole seconds. */
export const periodText = z
  .string()
  .regex(/^\d+[smhdwy]?$/, 'expects a lifetime such as 15d or 90m, or a whole number of seconds')
  .transform((value): string | number => (/^\d+$/.test(value) ? Number(value) : value))
/** Schema of a period, or `off`. */
export const periodOrOff = z.union([z.literal('off').transform((): false => false), periodText], {
  error: 'expects off, a lifetime such as 15d or 90m, or a whole number of seconds',
})
/** Schema of a whole number, or `off`. */
export const wholeNumberOrOff = (from: number, to: number) =>
  z.union([z.literal('off').transform((): false => false), wholeNumberInRange(from, to)], {
    error: `expects off or a whole number from ${from} to ${to}`,
  })

const ON: readonly string[] = ['on', 'true', '1']
const OFF: readonly string[] = ['off', 'false', '0']
/**
 * Parses `on` or `off`. `other` parses any further value, and returns `null` for an invalid one.
 */
function parseSwitchOr<Other>(wanted: string, other: (value: string) => Other | null) {
  return z.string().transform((value, check): boolean | Other => {
    const word = value.toLowerCase()
    const read = ON.includes(word) ? true : OFF.includes(word) ? false : other(word)
    if (read !== null) return read
    check.addIssue({ code: 'custom', message: `expects ${wanted}` })
    return z.NEVER
  })
}
export const onOff = parseSwitchOr<never>('on or off', () => null)
export const onOffOrValue = <More extends string>(more: More) =>
  parseSwitchOr(`on, off or ${more}`, (value) => (value === more ? more : null))
export const onOffOrHosts = parseSwitchOr(
  'on, off or host names such as app.example.com',
  (value) => {
    const hosts = words(value)
    return hosts.every(isHost) ? hosts : null
  },
)

export const listOf = (known: readonly string[]) => known.join(known.length === 2 ? ' or ' : ', ')
export const oneOf = <Known extends string>(known: readonly Known[]) =>
  z.enum(known, { error: `expects ${listOf(known)}` })

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'silent'] as const
/** Level of the service's log. */
export type LogLevel = (typeof logLevels)[number]

export const logAreas = ['requests', 'oauth', 'billing', 'database'] as const
/** A part of the service whose lines in the log can have a level of their own. */
export type LogArea = (typeof logAreas)[number]

const words = (value: string) => value.split(/[\s,]+/).filter(Boolean)
/** Splits at commas only, because a name may contain a space. */
const parts = (value: string) =>
  value
    .split(',')
    .map((part) => part.trim().replace(/\s+/g, ' '))
    .filter(Boolean)

/** Schema of a list of names separated by commas or spaces. */
export const names = z.string().transform(words)
/** Lines of text, separated by semicolons. */
export const lines = z.string().transform((value) =>
  value
    .split(';')
    .map((line) => line.trim())
    .filter((line) => line !== ''),
)
export const secrets = names.refine(
  (list) => list.length > 0 && list.every((each) => each.length >= 32),
  'needs tokens of at least 32 random characters, separated by commas',
)
export const addresses = names.refine(
  (list) => list.every(isNetwork),
  'expects IP addresses or networks such as 10.0.0.0/8',
)
export const deliverySecrets = names.refine(
  (list) => list.length > 0 && list.every(isDeliverySecret),
  `expects ${WEBHOOK_SECRET_FORMAT}; separate several with commas`,
)
export const someOf = <Known extends string>(known: readonly Known[]) =>
  z
    .string()
    .transform(parts)
    .refine((list): list is Known[] => list.every((each) => known.some((name) => name === each)), {
      message: `expects one or more of ${known.join(', ')}, separated by commas`,
    })
/**
 * Schema of a list of MCP servers separated by commas. Each entry is a URL and its scopes,
 * separated by spaces.
 */
export const mcpServers = z
  .string()
  .transform((value) => parts(value).map((part) => part.split(' ')))
  .refine((list) => list.every(([uri = '', ...scopes]) => URL.canParse(uri) && scopes.length > 0), {
    message:
      'expects MCP servers such as https://api.example.com/mcp read-orders, separated by commas',
  })
  .transform((list) =>
    list.length === 0
      ? null
      : Object.fromEntries(list.map(([uri = '', ...scopes]) => [uri, { scopes }])),
  )

/** Schema of an http(s) URL, which is kept exactly as given, including a trailing slash. */
export const exactUrl = z
  .string()
  .refine((value) => /^https?:\/\//.test(value) && URL.canParse(value), 'expects an http(s) URL')
export const url = exactUrl.transform((value) => value.replace(/\/+$/, ''))
export const origin = url.refine((value) => new URL(value).pathname === '/', {
  message: 'expects a URL without a path: the service must be served at the root of its host',
})
export const databaseUrl = text.superRefine((value, check) => {
  if (isAccepted(() => findDatabaseFile(value))) return
  const [, scheme] = /^([a-z][a-z0-9+.-]*):/i.exec(value) ?? []
  const given = scheme === undefined ? 'has no URL scheme' : `begins with ${scheme}:`
  const message = `${given}, but must be postgres://…, mysql://… or sqlite:/path/to/file.db`
  check.addIssue({ code: 'custom', message })
})
export const stripeWebhookSecret = text.refine(
  (value) => value.split(/[\s,]+/).every((each) => /^whsec_\S+$/.test(each)),
  "expects the endpoint's signing secret, whsec_…; separate several with commas",
)

/** Address and credentials of a mail server. */
export interface SmtpAddress {
  /** Host name or IP address of the server. */
  readonly host: string
  /** Port of the server. */
  readonly port: number
  /** Whether the connection is encrypted from the beginning (`smtps:`), without STARTTLS. */
  readonly isImplicitTls: boolean
  /** Credentials. `null` if the server needs none. */
  readonly auth: { readonly user: string; readonly pass: string } | null
}

const SMTP_WANTED =
  'expects smtp://user:password@mail.example.com:587 or smtps://…:465, with special characters of the password percent-encoded (@ as %40)'

/** Schema of a mail server's URL. Error messages never contain it, because it holds a password. */
export const smtpUrl = z.string().transform((value, check): SmtpAddress => {
  const parsed = parseSmtpUrl(value.trim())
  if (parsed) return parsed
  check.addIssue({ code: 'custom', message: SMTP_WANTED })
  return z.NEVER
})

function parseSmtpUrl(value: string): SmtpAddress | null {
  if (!/^smtps?:\/\//i.test(value) || !URL.canParse(value)) return null
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(value)
  const isImplicitTls = protocol === 'smtps:'
  const host = hostname.replace(/^\[|\]$/g, '')
  const isHostAlone = (pathname === '' || pathname === '/') && search === '' && hash === ''
  const hasBoth = (username === '') === (password === '')
  if (!/^[\w.:-]+$/.test(host) || port === '0' || !isHostAlone || !hasBoth) return null
  try {
    const auth = { user: decodeURIComponent(username), pass: decodeURIComponent(password) }
    if (/\p{Cc}/u.test(auth.user + auth.pass)) return null
    return {
      host,
      port: port === '' ? (isImplicitTls ? 465 : 587) : Number(port),
      isImplicitTls,
      auth: username === '' ? null : auth,
    }
  } catch {
    return null
  }
}

/** A sender or recipient of mail. */
export interface MailAddress {
  /** The name shown instead of the address. Empty for none. */
  readonly name: string
  /** The e-mail address. */
  readonly address: string
}

/** Schema of an e-mail address, with or without a name: `Example Ltd <billing@example.com>`. */
export const mailAddress = z.string().transform((value, check): MailAddress => {
  const [, quoted, plain = '', bracketed] =
    /^(?:"([^"\\]*)"|([^"<>]*?))\s*<([^<>]*)>$/.exec(value.trim()) ?? []
  const name = (quoted ?? plain).trim()
  const address = bracketed ?? value.trim()
  if (isEmail(address) && !/\p{Cc}/u.test(name)) return { name, address }
  check.addIssue({
    code: 'custom',
    message: 'expects an e-mail address: billing@example.com or Example Ltd <billing@example.com>',
  })
  return z.NEVER
})

/** Formats an address as people write it: `Example Ltd <billing@example.com>`. */
export function formatMailAddress({ name, address }: MailAddress): string {
  return name === '' ? address : `${name} <${address}>`
}
