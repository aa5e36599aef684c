import { type OwnerTable, resolveOwnerTables } from './core/storage/owner-tables.ts'
import { findApplicationUrl } from './core/values/arguments.ts'
import type { ProviderName } from './core/values/provider-name.ts'
import { mailKinds } from './core/words/words.ts'
import { createProviders } from './create-providers.ts'
import type { MailOptions } from './features/mail/mail-options.ts'
import { resolveDeliveries } from './features/outgoing-webhooks/delivery-options.ts'
import type { BillingOptions, BillingPaths, ResolvedOptions, TaxOption } from './options.ts'
import type { Provider } from './providers/provider.ts'

/**
 * Validates the options at start-up and fills in the defaults.
 * @throws TypeError if an option is missing or invalid.
 */
export function resolveOptions<User>(options: BillingOptions<User>): ResolvedOptions {
  const providers = createProviders(options)
  const [first] = providers.all
  if (!first) {
    throw new TypeError(
      'No provider: pass stripe: { secret, webhookSecret }, braintree: { … }, or both.',
    )
  }
  if (!options.database) {
    throw new TypeError('database is missing: pass `await connect(url)` from @tollgate/database.')
  }
  const defaultProvider = options.defaultProvider ?? first.name
  if (!providers.find(defaultProvider)) {
    throw new TypeError(`defaultProvider is ${defaultProvider}, which is not configured.`)
  }
  const tax = options.taxPercentage as OwnerTable['taxPercentage']
  return {
    database: options.database,
    owners: resolveOwnerTables(
      { ...options.users, ...(tax ? { taxPercentage: tax } : {}) },
      options.owners ?? {},
    ),
    providers,
    defaultProvider,
    tax: resolveTax(options, providers.all),
    handlers: options.handlers ?? {},
    on: options.on ?? {},
    deliveries: resolveDeliveries(options.deliveries),
    mail: requireMail(options),
    maxFailedCharges: requireWholeOrNull('maxFailedCharges', options.maxFailedCharges ?? null),
    webhookAttempts: requireWholeOrNull('webhookAttempts', options.webhookAttempts ?? 12) ?? 12,
    lockLeaseMs: resolveLease(options.lockLease ?? 15),
    processEverySeconds: requireWholeOrNull(
      'processEvery',
      options.processEvery === false ? null : (options.processEvery ?? 10),
    ),
    paths: resolvePaths(options.paths ?? {}, providers.all),
    baseUrl: requireUrl(options.baseUrl ?? 'http://localhost'),
    publicUrl: options.baseUrl ?? null,
    authenticate: options.authenticate ?? null,
    failedUrl: resolveFailedUrl(options),
    invoice: options.invoice ?? null,
    locale: options.locale ?? null,
    disputes: {
      access: requireAllowedWord('disputes.access', options.disputes?.access ?? 'keep', [
        'keep',
        'suspend',
        'end',
      ]),
    },
    pauses: {
      access: requireAllowedWord('pauses.access', options.pauses?.access ?? 'keep', [
        'keep',
        'suspend',
      ]),
    },
    trials: { oncePerOwner: options.trials?.oncePerOwner ?? false },
    codeAttempts: {
      limit: requireWhole('codeAttempts.limit', options.codeAttempts?.limit ?? 10),
      seconds: requireWhole('codeAttempts.seconds', options.codeAttempts?.seconds ?? 3600),
    },
    migrate: options.migrate ?? true,
    clock: options.clock ?? options.database.clock,
    logger: options.logger ?? console,
    observe: options.observe ?? null,
  }
}

function resolveTax<User>(
  { tax = 'percentage', taxPercentage, owners = {} }: BillingOptions<User>,
  providers: readonly Provider[],
): TaxOption {
  if (tax === 'percentage') return tax
  if (tax !== 'automatic' && typeof tax.rates !== 'function') {
    throw new TypeError("tax: expected 'percentage', 'automatic' or { rates }.")
  }
  const other = Object.entries(owners).find(([, table]) => table?.taxPercentage)
  if (taxPercentage || other) {
    const whose = taxPercentage ? '' : `owners.${other?.[0]}.`
    throw new TypeError(
      `tax and ${whose}taxPercentage: only one of them can determine the tax; leave the other out.`,
    )
  }
  const part = tax === 'automatic' ? 'automaticTax' : 'lineRates'
  if (!providers.some(({ can }) => can.includes(part))) {
    throw new TypeError(`tax: no configured provider has ${part}.`)
  }
  return tax as TaxOption
}

function requireMail({ mail, invoice }: BillingOptions<never>): MailOptions | null {
  if (!mail) return null
  if (typeof mail.send !== 'function') throw new TypeError('mail.send: expected a function.')
  for (const kind of mail.only ?? []) requireAllowedWord('mail.only', kind, mailKinds)
  if (invoice?.vendor && invoice.product) return mail
  throw new TypeError(
    'mail needs invoice: { vendor, product }, the seller and the name of what is sold.',
  )
}

function resolveFailedUrl({ failedPath: path, baseUrl }: BillingOptions<never>) {
  if (path === undefined) return null
  if (baseUrl === undefined)
    throw new TypeError('failedPath is relative to baseUrl: set baseUrl too.')
  const url = findApplicationUrl(baseUrl, path)
  if (url !== null) return url
  throw new TypeError(`failedPath: '${path}' should look like '/billing/returned'.`)
}

function requireUrl(url: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url
  throw new TypeError(`baseUrl: '${url}' should look like 'https://app.example.com'.`)
}

function resolvePaths(
  paths: BillingPaths,
  providers: readonly Provider[],
): ResolvedOptions['paths'] {
  const { invoice = '/user/invoice/{invoice}', checkoutReturn = '/billing/checkout/return' } = paths
  const own: Readonly<Record<string, string | undefined>> = {
    stripe: paths.stripeWebhook,
    braintree: paths.braintreeWebhook,
  }
  const webhooks = new Map<string, ProviderName>()
  for (const { name, webhookPath } of providers) {
    const path = own[name] ?? webhookPath
    requirePath(`${name}Webhook`, path, /^(\/[\w-]+)+$/)
    const other = webhooks.get(path)
    if (other) throw new TypeError(`paths: ${other} and ${name} both have '${path}'.`)
    webhooks.set(path, name)
  }
  requirePath('invoice', invoice, /^(\/[\w-]+)+\/\{invoice\}$/)
  requirePath('checkoutReturn', checkoutReturn, /^(\/[\w-]+)+$/)
  return { invoice, checkoutReturn, webhooks }
}

function requirePath(name: string, path: string, shape: RegExp): void {
  if (shape.test(path)) return
  const example = name === 'invoice' ? '/user/invoice/{invoice}' : '/stripe/webhook'
  throw new TypeError(`paths.${name}: '${path}' should look like '${example}'.`)
}

function requireAllowedWord<Word extends string>(
  name: string,
  word: Word,
  words: readonly Word[],
): Word {
  if (words.includes(word)) return word
  const quoted = words.map((each) => `'${each}'`)
  const last = quoted.pop()
  throw new TypeError(`${name}: '${word}' should be ${quoted.join(', ')} or ${last}.`)
}

function resolveLease(seconds: number): number {
  if (Number.isFinite(seconds) && seconds >= 0.1) return Math.round(seconds * 1000)
  throw new TypeError('lockLease: expected seconds, at least 0.1.')
}

function requireWholeOrNull(name: string, value: number | null): number | null {
  return value === null ? null : requireWhole(name, value)
}

function requireWhole(name: string, value: number): number {
  if (Number.isInteger(value) && value > 0) return value
  throw new TypeError(`${name}: expected a whole number above 0.`)
}
