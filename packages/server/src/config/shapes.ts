import { billingEventTypes, type DeliveryEndpoint, isDeliverySecret } from '@tollgate/billing'
import {
  jwtBearer,
  jwtClientAuthentication,
  refreshToken,
  type TrustedIssuer,
} from '@tollgate/oauth'
import { z } from 'zod'
import { known, list } from './row.ts'
import * as read from './values.ts'

// Values of tollgate.config.ts that have several members or their own syntax.

export const lifetime = z.union([z.string().regex(/^\d+[smhdwy]$/), z.number().int().positive()], {
  error: "expected a lifetime such as '15d' or '90m', or a whole number of seconds",
})
// The library checks these two values as well; checking them here lets the message name the
// setting.
export const repeatWindowShape = z
  .union([lifetime, z.literal(false)])
  .refine(
    (value) => read.isAccepted(() => refreshToken({ repeatableFor: value })),
    "expected 10 seconds to 7 days, such as '24h', or false",
  )
export const assertionLife = z
  .union([z.string(), z.number()])
  .refine(
    (value) => read.isAccepted(() => jwtClientAuthentication({ assertionsExpireIn: value })),
    "expects an hour at most, such as '10m' or 600 seconds",
  )

export const hasScopes = (value: unknown) =>
  typeof value === 'object' && value !== null && 'scopes' in value

const planMembers = z.strictObject({
  /** The id in URLs and forms, such as `pro`. */
  id: z.string().min(1).max(64),
  /** The name shown on the pages. */
  name: z.string().min(1).max(100),
  /** Price per billing period, in the currency's smallest unit. */
  amount: z.number().int().nonnegative(),
  /** Billing interval in months. */
  months: z.number().int().min(1).max(12),
  /**
   * A sentence that helps people choose, shown on the pages.
   * @default ''
   */
  description: z.string().max(500).default(''),
  /**
   * Length of the trial in days.
   * @default 0
   */
  trialDays: z.number().int().min(0).max(730).default(0),
  /**
   * Whether people can choose a quantity. Stripe only.
   * @default false
   */
  seats: z.boolean().default(false),
  /**
   * The price id at Stripe.
   * @default the value of `id`
   */
  stripe: z.string().min(1).optional(),
  /**
   * The plan id at Braintree.
   * @default the value of `id`
   */
  braintree: z.string().min(1).optional(),
})

export const plan = planMembers.transform((value) => ({
  ...value,
  stripe: value.stripe ?? value.id,
  braintree: value.braintree ?? value.id,
}))

export const invoice = z.strictObject({ vendor: z.string().min(1), product: z.string().min(1) })

export const selfRegistered = z.strictObject({
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

export const outgoing = z.strictObject({
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
})

/** The type of event that endpoints list to receive the audit log. */
export const AUDIT_EVENT = 'audit.entry'

/** Types of events that an endpoint can list. */
export const deliveryTypes = [...billingEventTypes, AUDIT_EVENT] as const

const deliverySecret = z
  .string()
  .refine(isDeliverySecret, { error: `expected ${read.SECRET_WANTED}` })

export const deliveries = outgoing.extend({
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
        error: `expected ${read.SECRET_WANTED}`,
      }),
      types: z.array(known(deliveryTypes)).readonly().optional(),
      name: z.string().min(1).max(255).optional(),
    }) as z.ZodType<DeliveryEndpoint>,
  ),
})

/** The settings whose values are objects, with the names of their members. */
export const members: Readonly<Record<string, { readonly shape: object }>> = {
  plans: planMembers,
  invoice,
  selfRegistered,
  outgoing,
  deliveries,
}

/**
 * Validates an issuer of the setting `trustedIssuers` as `jwtBearer()` does, but reports errors
 * with the name of the setting.
 */
export function checkIssuer(issuer: TrustedIssuer, context: z.RefinementCtx): void {
  try {
    jwtBearer({ issuers: [withLookup(issuer, () => null)] })
  } catch (error) {
    const problem = error instanceof TypeError ? error.message : 'expected { issuer, jwksUri, … }'
    context.addIssue({ code: 'custom', message: problem.replace(/^jwtBearer: /, '') })
  }
}

/**
 * Adds `userByEmail` to a trusted issuer that has `emailDomains` but no function for finding
 * accounts.
 */
export function withLookup(
  issuer: TrustedIssuer,
  userByEmail: NonNullable<TrustedIssuer['userByEmail']>,
): TrustedIssuer {
  return looksUpAccounts(issuer) ? { ...issuer, userByEmail } : issuer
}

/** Whether the service finds the accounts of this issuer's users by e-mail address. */
export function looksUpAccounts({ emailDomains, userByEmail }: TrustedIssuer): boolean {
  return emailDomains !== undefined && userByEmail === undefined
}
