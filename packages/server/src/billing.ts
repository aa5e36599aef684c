import {
  type Billing,
  type BillingOptions,
  type BraintreeSettings,
  createBilling,
  type EventListeners,
  type MailOptions,
  type Observer,
  type Owner,
  type OwnerTable,
  type StripeSettings,
  type WebhookHandlers,
} from '@tollgate/billing'
import type { Clock, SignedIn } from '@tollgate/oauth'
import type { Logger } from 'pino'
import { braintreeEnvironment } from './config/braintree-environment.ts'
import type { Config } from './config/config.ts'
import { optionsOf } from './config/library-options.ts'
import { meteredPrices } from './config/plan-capabilities.ts'
import { getSeller } from './config/seller.ts'
import type { Settings } from './config/settings.ts'
import { AUDIT_EVENT } from './config/shapes.ts'
import { asConfigurationError } from './configuration-error.ts'
import { plainLogger } from './logger.ts'
import { createMailer, type Mailer, type MailerOptions } from './mail/mailer.ts'
import { TEAM, TEAMS } from './storage/found-tables.ts'
import type { ServiceDatabase, TeamRow, UserRow } from './storage/tables.ts'
import { teamFromRow } from './teams/team.ts'
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

export interface ServiceBillingOptions extends Pick<MailerOptions, 'smtp'> {
  readonly config: Config
  readonly database: ServiceDatabase
  readonly providers: Providers
  /**
   * The clock of all dates.
   * @default the clock of the database
   */
  readonly clock?: Clock
  readonly logger: Logger
  /** Called for each request to a provider and each background job. */
  readonly observe?: Observer
  /** Handlers for provider events, used instead of those in the settings. */
  readonly handlers?: WebhookHandlers
  /** Listeners of billing events, used instead of those in the settings. */
  readonly listeners?: EventListeners
  /** Public base URL of the service. */
  readonly url?: string
  /** Finds the signed-in user of a request, who may then download invoices. */
  readonly fromRequest?: (request: Request) => Promise<SignedIn | null>
  /** Whether to process the webhook inbox in the background. */
  readonly background: boolean
  /** Called after each attempt to send mail. */
  readonly onMail?: MailerOptions['onAttempt']
}

export function createServiceBilling(options: ServiceBillingOptions): Billing {
  const { config, database, providers, logger, url, fromRequest, background } = options
  const { settings } = config
  const { stripe, braintree, ...given } = optionsOf('billing', settings)
  const metered = meteredPrices(settings.plans, 'braintree')
  const mailer = createMailer({ config, smtp: options.smtp, onAttempt: options.onMail })
  const billing = create({
    ...given,
    ...(providers.stripe && {
      stripe: {
        ...stripe,
        ...providers.stripe,
        config: { ...settings.stripeConfig, ...providers.stripe.config },
      },
    }),
    ...(providers.braintree && {
      braintree: {
        ...braintree,
        ...providers.braintree,
        metered: { ...braintree?.metered, ...metered },
      },
    }),
    database,
    users: { table: 'users', idType: 'integer' },
    // Even if teams are switched off, so that subscriptions they have are kept up to date.
    owners: { [TEAM]: { ...TEAMS, ...taxOfTeams(settings) } },
    ...taxOf(settings),
    ...(mailer && { mail: mailOf(mailer, settings, url) }),
    handlers: options.handlers ?? settings.handlers,
    ...(options.listeners && { on: options.listeners }),
    invoice: getSeller(settings),
    locale: (owner) => readLocale(database, owner),
    deliveries: { ...config.deliveries, applicationTypes: [AUDIT_EVENT] },
    ...(url ? { baseUrl: url, failedPath: RETURNED_PATH } : {}),
    authenticate: async (request) => {
      const person = await fromRequest?.(request)
      return person ? Number(person.id) : null
    },
    processEvery: background ? (settings.processEvery ?? 10) : false,
    migrate: settings.migrate,
    clock: options.clock ?? database.clock,
    logger: plainLogger(logger),
    ...(options.observe && { observe: options.observe }),
  } satisfies BillingOptions)
  return {
    ...billing,
    async close() {
      // Waits for the mail that is being sent.
      await billing.close()
      mailer?.close()
    },
  }
}

/** @throws ConfigurationError if settings that are valid alone contradict each other. */
function create(options: BillingOptions): Billing {
  try {
    return createBilling(options)
  } catch (error) {
    throw asConfigurationError(error)
  }
}

/** The options of billing that determine the tax. Their functions get the user, not the row. */
function taxOf({ taxPercentage, tax }: Settings): Pick<BillingOptions, 'taxPercentage' | 'tax'> {
  const userOf = (row: unknown) => fromRow(row as UserRow)
  if (tax === 'automatic') return { tax }
  if (tax !== null && tax !== 'percentage') {
    // Teams cannot be switched on with this option. Those there are keep going without a tax.
    return {
      tax: {
        rates: (row, price) =>
          'password_hash' in Object(row) ? tax.rates(userOf(row), price) : [],
      },
    }
  }
  // Without the option, billing would keep a tax that someone has added at the provider.
  return { taxPercentage: (row) => taxPercentage?.(userOf(row)) ?? 0 }
}

function taxOfTeams({ teams }: Settings): Pick<OwnerTable, 'taxPercentage'> {
  const { taxPercentage } = typeof teams === 'object' ? teams : {}
  if (!taxPercentage) return {}
  return { taxPercentage: (row) => taxPercentage(teamFromRow(row as unknown as TeamRow)) }
}

/** Returns the path of the billing page of a person or team. */
export function billingPathOf({ type, id }: Owner): string {
  return type === TEAM ? `/teams/${id}/billing` : '/billing'
}

/** The mail to customers. Its button leads to the billing page, unless `link` says otherwise. */
function mailOf(mailer: Mailer, { mail }: Settings, url: string | undefined): MailOptions {
  return {
    ...mail,
    send: (message) => mailer.send(message),
    link: (kind, owner) =>
      mail?.link ? mail.link(kind, owner) : url && `${url}${billingPathOf(owner)}`,
  }
}

/**
 * The language of mail and invoices, if the person has chosen one on the account page. A team has
 * the language of its first owner.
 */
async function readLocale(database: ServiceDatabase, { type, id }: Owner): Promise<string | null> {
  const { kysely } = database
  const ofPerson = kysely.selectFrom('users').select('locale').where('id', '=', Number(id))
  const ofTeam = kysely
    .selectFrom('team_members')
    .innerJoin('users', 'users.id', 'team_members.user_id')
    .select('users.locale')
    .where('team_members.team_id', '=', String(id))
    .where('team_members.role', '=', 'owner')
    .orderBy('team_members.joined_at')
    .limit(1)
  const row = await (type === TEAM ? ofTeam : ofPerson).executeTakeFirst()
  return row?.locale ?? null
}
