import {
  type Billing,
  type BillingOptions,
  type BraintreeSettings,
  createBilling,
  type StripeSettings,
  type WebhookHandlers,
} from '@tollgate/billing'
import type { Database } from '@tollgate/database'
import type { Clock, SignedIn } from '@tollgate/oauth'
import type { Logger } from 'pino'
import { braintreeEnvironment } from './config/braintree-environment.ts'
import type { Config } from './config/config.ts'
import { plainLogger } from './logger.ts'
import type { UserRow } from './storage/tables.ts'
import { fromRow } from './users/user.ts'

/** How to reach the payment providers. */
export interface Providers {
  readonly stripe?: StripeSettings
  readonly braintree?: BraintreeSettings
}

/** Those of the environment. */
export function configuredProviders({ stripe, braintree }: Config): Providers {
  return {
    ...(stripe ? { stripe } : {}),
    ...(braintree ? { braintree: braintreeEnvironment(braintree) } : {}),
  }
}

/** Where a browser goes that comes back from a hosted page and cannot be let in. */
export const RETURNED_PATH = '/billing/returned'

/** Enough to migrate with: nothing is asked of the provider. */
export const NO_PROVIDER: Providers = { stripe: { secret: 'unused', webhookSecret: 'unused' } }

export interface ServiceBillingOptions {
  readonly config: Config
  readonly database: Database
  readonly providers: Providers
  /** Default: the database's. */
  readonly clock?: Clock
  readonly logger: Logger
  /** In place of those of the configuration. */
  readonly handlers?: WebhookHandlers
  /** Where the service is. */
  readonly url?: string
  /** Who is asking for an invoice. */
  readonly fromRequest?: (request: Request) => Promise<SignedIn | null>
  /** Whether it works on its inbox by itself. */
  readonly background: boolean
}

export function createServiceBilling(options: ServiceBillingOptions): Billing {
  const { config, database, providers, logger, url, fromRequest, background } = options
  const { settings } = config
  return createBilling({
    ...providers,
    database,
    users: { table: 'users', idType: 'integer' },
    taxPercentage: (row) => settings.taxPercentage(fromRow(row as unknown as UserRow)),
    handlers: options.handlers ?? settings.handlers,
    invoice: settings.invoice,
    deliveries: config.deliveries,
    ...(url ? { baseUrl: url, failedPath: RETURNED_PATH } : {}),
    authenticate: async (request) => {
      const person = await fromRequest?.(request)
      return person ? Number(person.id) : null
    },
    ...(background ? {} : { processEvery: false as const }),
    clock: options.clock ?? database.clock,
    logger: plainLogger(logger),
  } satisfies BillingOptions)
}
