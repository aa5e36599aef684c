import {
  billingEventTypes,
  type DeliveryEndpoint,
  type EventListeners,
  type InvoiceWords,
  isDeliverySecret,
  type MailMessage,
  type MailOptions,
  mailKinds,
} from '@tollgate/billing'
import {
  type AccessTokenFormat,
  type AccessTokenFormatName,
  jwtBearer,
  jwtClientAuthentication,
  type OutgoingOptions,
  refreshToken,
  type TrustedIssuer,
} from '@tollgate/oauth'
import { z } from 'zod'
import type { User } from '../users/user.ts'
import { type ColorScheme, findAccentProblem, isColor } from './contrast.ts'
import { didYouMean } from './did-you-mean.ts'
import { callable, known, list } from './row.ts'
import * as read from './values.ts'

// Values of tollgate.config.ts that have several members or their own syntax.

export const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const hasFunction = (value: object, name: string) =>
  typeof (value as Record<string, unknown>)[name] === 'function'

/** Whether every member of an object is a function. */
export const hasFunctionsOnly = (value: unknown) =>
  isObject(value) && Object.keys(value).every((name) => hasFunction(value, name))

/** A period, or a function that returns when a token that is issued now expires. */
export const lifetimeShape = z.union([read.period, callable<() => Date>()], {
  error: "expected a lifetime such as '15d' or '90m', a whole number of seconds, or a function",
})
export const productNameShape = z.string().trim().min(1).max(60)

export const tokenPrefixShape = z
  .string()
  .regex(
    /^(?!tg[acdrs]_)[a-z][a-z0-9]{1,14}_$/i,
    'expected 2 to 15 letters and digits and an underscore, such as tgp_, and none of our other prefixes',
  )

export const vendorShape = z.string().trim().min(1).max(100)
export const addressLinesShape = z
  .array(z.string().trim().min(1).max(100))
  .max(8, 'expected 8 lines at most')
  .readonly()

/** An accent color, which must be readable as text on the pages of the color scheme. */
export const accentColor = (scheme: ColorScheme) =>
  z
    .string()
    .refine(isColor, 'expected a color such as #2f5bd7')
    .superRefine((color, context) => {
      const problem = isColor(color) ? findAccentProblem(color, scheme) : null
      if (problem !== null) context.addIssue({ code: 'custom', message: problem })
    })

export const contactShape = z.union([z.email(), z.url({ protocol: /^https?$/ })], {
  error: 'expected an e-mail address or a URL',
})

export const currencyShape = z
  .string()
  .regex(/^[a-z]{3}$/i, 'expected a currency code of three letters such as usd')
  .toLowerCase()

export const accessTokenFormats = ['jwt', 'opaque'] as const satisfies AccessTokenFormatName[]
export const accessTokenFormatShape = z.union(
  [
    known(accessTokenFormats),
    z.custom<AccessTokenFormat>(
      (value) =>
        isObject(value) &&
        ['recognizes', 'encode', 'decode'].every((name) => hasFunction(value, name)),
    ),
  ],
  { error: "expected 'jwt', 'opaque', or an object with recognizes(), encode() and decode()" },
)

export const secondsOrNever = ([from, to]: readonly [number, number]) =>
  z.union([z.literal(false), z.number().int().min(from).max(to)], {
    error: `expected a whole number of seconds from ${from} to ${to}, or false`,
  })

export const attemptLimitShape = z.strictObject({
  limit: z.number().int().min(1).exactOptional(),
  seconds: z.number().int().min(1).exactOptional(),
})

// The library checks these two values as well; checking them here lets the message name the
// setting.
export const repeatWindowShape = z
  .union([read.period, z.literal(false)])
  .refine(
    (value) => read.isAccepted(() => refreshToken({ repeatableFor: value })),
    "expected 10 seconds to 7 days, such as '24h', or false",
  )
export const repeatWindowTextShape = read.periodOrOff.refine(
  (value) => read.isAccepted(() => refreshToken({ repeatableFor: value })),
  'expects off, or 10 seconds to 7 days, such as 24h',
)
export const assertionLifetimeShape = z
  .union([z.string(), z.number()])
  .refine(
    (value) => read.isAccepted(() => jwtClientAuthentication({ assertionsExpireIn: value })),
    "expects an hour at most, such as '10m' or 600 seconds",
  )

export const hasScopes = (value: unknown) =>
  typeof value === 'object' && value !== null && 'scopes' in value

const lines = z.array(z.string()).readonly()
const bytes = z.instanceof(Uint8Array, {
  error: 'expected the bytes of a file, as of readFileSync()',
})

export const invoiceShape = z.strictObject({
  vendor: z.string().min(1).exactOptional(),
  product: z.string().min(1).exactOptional(),
  vendorDetails: lines.exactOptional(),
  logo: bytes.exactOptional(),
  legal: lines.exactOptional(),
  footer: z.string().exactOptional(),
  locale: z.string().min(2).exactOptional(),
  words: z.custom<Partial<InvoiceWords>>(isObject, { error: 'expected an object' }).exactOptional(),
  fonts: z.strictObject({ regular: bytes, bold: bytes }).exactOptional(),
})

export const eventListenersShape = z
  .custom<EventListeners>(hasFunctionsOnly, { error: 'expected an object of functions' })
  .superRefine((value, context) => {
    for (const name of Object.keys(value)) {
      if (billingEventTypes.some((type) => type === name)) continue
      const near = didYouMean(name, billingEventTypes)
      context.addIssue({ code: 'custom', message: `there is no event '${name}'.${near}` })
    }
  })

const REGISTRATIONS = ['open', 'invitation', 'closed'] as const

export const registrationShape = z.union(
  [known(REGISTRATIONS), z.boolean().transform((isOpen) => (isOpen ? 'open' : 'closed'))],
  { error: "expected 'open', 'invitation' or 'closed'" },
)
const WORDS = { on: 'open', off: 'closed' } as const
export const registrationTextShape = z
  .enum([...REGISTRATIONS, 'on', 'off'], { error: 'expects open, invitation, closed, on or off' })
  .transform((word) => (word === 'on' || word === 'off' ? WORDS[word] : word))

/** Decides whether a person, and no program, has sent a form. */
export type CaptchaCheck = (form: URLSearchParams, request: Request) => boolean | Promise<boolean>

/** A challenge in the forms that strangers can send. */
export interface CaptchaSettings {
  /** Decides whether a form is accepted. */
  readonly check: CaptchaCheck
  /** HTML of the challenge, shown inside the form as it is. */
  readonly html?: string
  /** Origins that the challenge loads scripts, styles and frames from. */
  readonly sources?: readonly string[]
}

export const captchaShape = z.union(
  [
    callable<CaptchaCheck>().transform((check): CaptchaSettings => ({ check })),
    z.strictObject({
      check: callable<CaptchaCheck>(),
      html: z.string().exactOptional(),
      sources: z
        .array(z.string().regex(/^https?:\/\/[\w.:*-]+$/, 'expected an origin'))
        .readonly()
        .exactOptional(),
    }),
  ],
  { error: 'expected a function, or { check, html, sources }' },
)

/** A path of a page, such as `/account`, with the function that replaces the page. */
export const servicePagesShape = z.custom<Readonly<Record<string, PageReplacement>>>(
  hasFunctionsOnly,
  {
    error: 'expected an object of functions',
  },
)

/** A page that the service is about to show, for a function in the setting `servicePages`. */
export interface ServicePage {
  /** The HTML document that the service shows without the replacement. */
  readonly html: string
  /** The content of that document between `<main>` and `</main>`, with its forms. */
  readonly main: string
  /** Status of the response. It is not 200 if a form was sent with mistakes, which `html` names. */
  readonly status: number
  /** The request, for its URL. */
  readonly request: Request
  /** The signed-in person. `null` if signed out. */
  readonly user: {
    readonly id: string
    readonly email: string
    readonly name: string | null
  } | null
  /** Value for the hidden field `csrf_token` of forms. `null` if signed out. */
  readonly csrfToken: string | null
  /** Language of the page, such as `de`. */
  readonly language: string
}

/** Returns the HTML document to show instead of a page of the service. */
export type PageReplacement = (page: ServicePage) => string | Promise<string>

/** A mail of the service: to a customer, or about an account, such as `password_reset`. */
export interface ServiceMail extends Omit<MailMessage, 'kind' | 'owner'> {
  /** The kind of mail, such as `receipt` or `password_reset`. */
  readonly kind: string
  /** The recipient's account. `null` if the mail invites to create one. */
  readonly owner: MailMessage['owner'] | null
}

/** Settings for mail to customers. Without `send`, the mail server of the environment sends it. */
export interface MailSettings extends Omit<MailOptions, 'send'> {
  /** Sends one mail with your mail service, also mail about accounts. */
  send?(message: ServiceMail): Promise<unknown>
}

const MAIL_MEMBERS = ['send', 'only', 'link', 'words']

export const mailShape = z
  .custom<MailSettings>(isObject, { error: 'expected an object' })
  .superRefine((value, context) => {
    const add = (message: string) => context.addIssue({ code: 'custom', message })
    for (const name of Object.keys(value)) {
      if (MAIL_MEMBERS.includes(name)) continue
      add(`there is no member '${name}'.${didYouMean(name, MAIL_MEMBERS)}`)
    }
    if (value.send !== undefined && !hasFunction(value, 'send')) {
      add('expected send to be a function that sends one mail')
    }
    if (value.link !== undefined && !hasFunction(value, 'link')) {
      add('expected link to be a function that returns a URL')
    }
    const kinds: readonly unknown[] = Array.isArray(value.only ?? []) ? (value.only ?? []) : [null]
    if (!kinds.every((kind) => mailKinds.some((known) => known === kind))) {
      add(`expected only to be a list of ${mailKinds.join(', ')}`)
    }
  })

export const taxShape = z.union(
  [
    known(['percentage', 'automatic']),
    z.custom<{
      readonly rates: (user: User, price: string) => readonly string[] | Promise<readonly string[]>
    }>((value) => isObject(value) && hasFunction(value, 'rates')),
  ],
  {
    error: "expected 'percentage', 'automatic' or { rates: a function of the user and the price }",
  },
)

export const teamsShape = z.union(
  [
    z.boolean(),
    z.strictObject({
      /**
       * A function of the team that returns the tax on its subscription charges as a percentage: 0
       * to 100 with at most two decimals.
       * @default 0 for every team
       */
      taxPercentage:
        callable<
          (team: { readonly id: string; readonly name: string }) => number | Promise<number>
        >().optional(),
    }),
  ],
  { error: 'expected true, false or { taxPercentage: a function of the team }' },
)

export const selfRegisteredShape = z.strictObject({
  /**
   * The policy for registering clients: `closed` (no one), `initial-access-token` (holders of a token in
   * `TOLLGATE_INITIAL_ACCESS_TOKENS`) or `open` (anyone).
   * @default 'closed'
   */
  policy: known(['closed', 'initial-access-token', 'open']).default('closed'),
  /**
   * Whether a `client_id` may be the URL of a client ID metadata document, or a list of the hosts
   * that may serve one.
   * @default false
   */
  documents: z
    .union([
      z.boolean(),
      list(z.string().refine(read.isHost, 'expected a host name such as app.example.com')),
    ])
    .default(false),
  /**
   * Scopes that such clients may request.
   * @default none
   */
  scopes: list(z.string()),
  /**
   * APIs that such clients can get tokens for, out of `resources` and `mcpServers`. `null` allows
   * the MCP servers if there are any, else all of `resources` and the service's `/api`.
   * @default null
   */
  resources: z.array(z.string()).readonly().nullable().default(null),
})

const resolve = callable<NonNullable<OutgoingOptions['resolve']>>()

/** Members that all kinds of outgoing requests have. */
export const requestRulesShape = z.strictObject({
  /**
   * Private addresses and networks that requests may reach.
   * @default none
   */
  privateAddresses: list(read.network),
  /**
   * Certificates (PEM) to trust in addition to those of Node.
   * @default none
   */
  certificates: list(
    z.string().includes('-----BEGIN CERTIFICATE-----', { error: 'expected a PEM' }),
  ),
  /**
   * Returns the addresses of a host name. The connection goes to one of them.
   * @default the system's resolver
   */
  resolve: resolve.exactOptional(),
})

export const outgoingShape = requestRulesShape.extend({
  /**
   * The longest time until a response is complete: 1 to 30 seconds.
   * @default '5s'
   */
  timeout: read.period.exactOptional(),
})

/** The type of event that endpoints list to receive the audit log. */
export const AUDIT_EVENT = 'audit.entry'

/** Types of events that an endpoint can list. */
export const deliveryTypes = [...billingEventTypes, AUDIT_EVENT] as const

const deliverySecret = z
  .string()
  .refine(isDeliverySecret, { error: `expected ${read.WEBHOOK_SECRET_FORMAT}` })

export const deliveriesShape = requestRulesShape.extend({
  /**
   * Seconds to wait for the response of an endpoint, 1 to 30.
   * @default 15
   */
  timeout: z.number().min(1).max(30).exactOptional(),
  /**
   * The endpoints. `types` limits an endpoint to some types of events; `audit.entry`, the audit log,
   * goes only to endpoints that list it.
   * @default none
   */
  endpoints: list(
    z.strictObject({
      url: z.url({
        protocol: /^https?$/,
        error: 'expected a URL such as https://app.example.com/events',
      }),
      secret: z.union([deliverySecret, z.array(deliverySecret).min(1).readonly()], {
        error: `expected ${read.WEBHOOK_SECRET_FORMAT}`,
      }),
      types: z.array(known(deliveryTypes)).readonly().optional(),
      name: z.string().min(1).max(255).optional(),
    }) as z.ZodType<DeliveryEndpoint>,
  ),
})

/**
 * Validates an issuer of the setting `trustedIssuers` as `jwtBearer()` does, but reports errors
 * with the name of the setting.
 */
export function checkIssuer(issuer: TrustedIssuer, context: z.RefinementCtx): void {
  try {
    jwtBearer({ issuers: [addAccountLookup(issuer, () => null)] })
  } catch (error) {
    const problem = error instanceof TypeError ? error.message : 'expected { issuer, jwksUri, … }'
    context.addIssue({ code: 'custom', message: problem.replace(/^jwtBearer: /, '') })
  }
}

/**
 * Adds `userByEmail` to a trusted issuer that has `emailDomains` but no function for finding
 * accounts.
 */
export function addAccountLookup(
  issuer: TrustedIssuer,
  userByEmail: NonNullable<TrustedIssuer['userByEmail']>,
): TrustedIssuer {
  return looksUpAccounts(issuer) ? { ...issuer, userByEmail } : issuer
}

/** Whether the service finds the accounts of this issuer's users by e-mail address. */
export function looksUpAccounts({ emailDomains, userByEmail }: TrustedIssuer): boolean {
  return emailDomains !== undefined && userByEmail === undefined
}
