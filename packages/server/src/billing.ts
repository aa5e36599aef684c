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
import { meteredPrices } from './config/plan-capabilities.ts'
import { AUDIT_EVENT } from './config/shapes.ts'
import { plainLogger } from './logger.ts'
import type { ServiceTables, UserRow } from './storage/tables.ts'
import { fromRow } from './users/user.ts'

/** Settings and credentials of the payment providers. */
export interface Providers {
  readonly stripe?: StripeSettings
  readonly braintree?: BraintreeSettings
}

/** The payment providers that the configuration has credentials for. */
export function configuredProviders({ stripe, braintree }: Config): Providers {
  return {
    ...(stripe ? { stripe } : {}),
    ...(braintree ? { braintree: braintreeEnvironment(braintree) } : {}),
  }
}

/**
 * Path of the page shown when a browser returns from a provider's hosted page and the request
 * cannot be completed.
 */
export const RETURNED_PATH = '/billing/returned'

/**
 * Placeholder credentials for work on the billing tables, such as migrations, during which no
 * request is sent to a provider.
 */
export const NO_PROVIDER: Providers = { stripe: { secret: 'unused', webhookSecret: 'unused' } }

export interface ServiceBillingOptions {
  readonly config: Config
  readonly database: Database
  readonly providers: Providers
  /**
   * The clock of all dates.
   * @default the clock of the database
   */
  readonly clock?: Clock
  readonly logger: Logger
  /** Handlers for provider events, used instead of those in the settings. */
  readonly handlers?: WebhookHandlers
  /** Public base URL of the service. */
  readonly url?: string
  /** Finds the signed-in user of a request, who may then download invoices. */
  readonly fromRequest?: (request: Request) => Promise<SignedIn | null>
  /** Whether to process the webhook inbox in the background. */
  readonly background: boolean
}

export function createServiceBilling(options: ServiceBillingOptions): Billing {
  const { config, database, providers, logger, url, fromRequest, background } = options
  const { settings } = config
  const { braintree } = providers
  const metered = meteredPrices(settings.plans, 'braintree')
  return createBilling({
    ...providers,
    ...(braintree ? { braintree: { ...braintree, metered } } : {}),
    database,
    users: { table: 'users', idType: 'integer' },
    taxPercentage: (row) => settings.taxPercentage(fromRow(row as unknown as UserRow)),
    handlers: options.handlers ?? settings.handlers,
    invoice: settings.invoice,
    locale: ({ id }) => readLocale(database, id),
    deliveries: { ...config.deliveries, applicationTypes: [AUDIT_EVENT] },
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

/** The language of mail and invoices, if the person has chosen one on the account page. */
async function readLocale(database: Database, id: string | number): Promise<string | null> {
  const row = await (database as unknown as Database<ServiceTables>).kysely
    .selectFrom('users')
    .select('locale')
    .where('id', '=', Number(id))
    .executeTakeFirst()
  return row?.locale ?? null
}
