import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** A folder or a file with tests, and the reason why it is listed. */
type ListedTest = readonly [path: string, because: string]

/**
 * Tests that `npm test` leaves out: campaigns and tables that take seconds of CPU time. They form
 * the project `slow`, on SQLite, and `.ci/run` always runs them. Those that are not listed below
 * run on Postgres and MariaDB, too.
 */
const slow: readonly ListedTest[] = [
  ['examples', 'whole apps are started, and Next builds one'],
  [
    'packages/billing/src/features/confirmations/test/challenged-changes.test.ts',
    'each change asks for 3-D Secure, and is continued in each way',
  ],
  [
    'packages/billing/src/features/confirmations/test/held-taxes.test.ts',
    'every answer is lost once',
  ],
  [
    'packages/billing/src/features/disputes/test/disputes.test.ts',
    'a whole table, for each provider',
  ],
  ['packages/billing/src/features/forecasts/test/previewed-invoices.test.ts', 'a whole table'],
  [
    'packages/billing/src/features/mail/test/language.test.ts',
    'prints invoices in several languages',
  ],
  [
    'packages/billing/src/features/outgoing-webhooks/test/killed-deliveries.test.ts',
    'a process is killed at each of its steps',
  ],
  [
    'packages/billing/src/features/payments/test/repeated-payments.test.ts',
    'a whole table, for each provider',
  ],
  [
    'packages/billing/src/features/promotion-codes/test/promotion-codes.test.ts',
    'every answer is lost once',
  ],
  [
    'packages/billing/src/features/proration/test/money-back-lives.test.ts',
    'hundreds of random lives',
  ],
  [
    'packages/billing/src/features/proration/test/money-back-terms.test.ts',
    'a whole table, for each provider',
  ],
  [
    'packages/billing/src/features/proration/test/money-back.test.ts',
    'a whole table, for each provider',
  ],
  [
    'packages/billing/src/features/schedules/test/planned-swap-recovery.test.ts',
    'cut short at each step',
  ],
  [
    'packages/billing/src/features/subscribe/test/after-last-retry.test.ts',
    'weeks of failed payments in each test',
  ],
  [
    'packages/billing/src/features/subscribe/test/another-card.test.ts',
    'every way out of a challenge',
  ],
  [
    'packages/billing/src/features/subscribe/test/archived-prices.test.ts',
    'a table: each change, each price',
  ],
  [
    'packages/billing/src/features/subscribe/test/taken-names.test.ts',
    'a whole table, for each provider',
  ],
  [
    'packages/billing/src/features/swap/test/braintree-money.test.ts',
    'months of invoices in each test',
  ],
  ['packages/billing/src/features/swap/test/frequency-swap-table.test.ts', 'a whole table'],
  ['packages/billing/src/features/swap/test/overdue.test.ts', 'a whole table'],
  ['packages/billing/src/features/swap/test/previews.test.ts', 'a whole table'],
  ['packages/billing/src/features/sync/test/sync-pages.test.ts', 'hundreds of users'],
  ['packages/billing/src/features/taxes/test/tax-changes.test.ts', 'a whole table'],
  [
    'packages/billing/src/features/usage/test/killed.test.ts',
    'a process is killed at each of its steps',
  ],
  ['packages/billing/test/concurrent-changes.test.ts', 'a whole table, each row four times'],
  ['packages/billing/test/database-away.test.ts', 'waits for a database that is away'],
  ['packages/billing/test/gateway-contract.test.ts', 'the whole contract, for each provider'],
  ['packages/billing/test/histories.test.ts', 'hundreds of random lives'],
  ['packages/billing/test/killed-braintree.test.ts', 'a process is killed at each of its steps'],
  ['packages/billing/test/killed-events.test.ts', 'a process is killed at each of its steps'],
  ['packages/billing/test/killed-stripe.test.ts', 'a process is killed at each of its steps'],
  ['packages/billing/test/lost-answers.test.ts', 'every answer is lost once'],
  ['packages/billing/test/processes.test.ts', 'several processes'],
  ['packages/billing/test/saved-500.test.ts', 'each call gets a 500 that is kept'],
  ['packages/billing/test/wrong-clock.test.ts', 'several processes'],
  ['packages/database/test/acknowledged.test.ts', 'processes are killed'],
  ['packages/database/test/clock-of-file.test.ts', 'waits for processes that may be there'],
  ['packages/database/test/durability.test.ts', 'processes are killed'],
  ['packages/database/test/outage.test.ts', 'waits for a database that is away'],
  ['packages/oauth/test/processes', 'several processes'],
  ['packages/oauth/test/registration/documents.test.ts', 'a whole table of documents'],
  ['packages/oauth/test/registration/outgoing.test.ts', 'waits for servers that do not answer'],
  ['packages/oauth/test/threats/feed-history.test.ts', 'waits for the feed of revocations'],
  ['packages/oauth/test/threats/mutated-requests.test.ts', 'twenty thousand random requests'],
  ['packages/oauth/test/threats/mutated-standards.test.ts', 'thousands of random requests'],
  ['packages/oauth/test/threats/removed-users.test.ts', 'waits for the feed of revocations'],
  ['packages/sandbox/test/braintree/money-adds-up.test.ts', 'random lives'],
  ['packages/sandbox/test/braintree/never-500.test.ts', 'a thousand random requests'],
  ['packages/sandbox/test/killed.test.ts', 'a process is killed at its writes'],
  ['packages/sandbox/test/stripe/checkout-totals.test.ts', 'a whole table'],
  ['packages/sandbox/test/stripe/columns.test.ts', 'random lives'],
  ['packages/sandbox/test/stripe/every-call.test.ts', 'a whole table, for each SDK'],
  ['packages/sandbox/test/stripe/fuzz.test.ts', 'random requests'],
  ['packages/sandbox/test/stripe/properties.test.ts', 'hundreds of random lives'],
  ['packages/server/test/application', 'each command is its own process'],
  ['packages/server/test/billing-pages.test.ts', 'months on every page'],
  ['packages/server/test/cli.test.ts', 'every command is run'],
  ['packages/server/test/init-files.test.ts', 'a whole table is compiled'],
  ['packages/server/test/init-network.test.ts', 'npm is started'],
  [
    'packages/server/test/interrupted-deletions.test.ts',
    'each call of a provider fails once, and the SDK repeats it first',
  ],
  ['packages/server/test/ending-accounts.test.ts', 'a whole table, for each provider'],
  ['packages/server/test/locked-tables.test.ts', 'waits for locks'],
  ['packages/server/test/backups.test.ts', 'several processes, on each database'],
  ['packages/server/test/open-telemetry-process.test.ts', 'several processes'],
  ['packages/server/test/mail-tls.test.ts', 'each mail is sent by its own process'],
  ['packages/server/test/processes.test.ts', 'several processes'],
  ['packages/server/test/proxies.test.ts', 'nginx and Caddy are started'],
  ['packages/server/test/restart.test.ts', 'several processes'],
  ['packages/server/test/distributed-attacks.test.ts', 'a thousand networks'],
  ['packages/server/test/wrong-clock.test.ts', 'several processes'],
  ['packages/server/test/workers.test.ts', 'several processes'],
  ['packages/server/test/worker-logs.test.ts', 'several processes'],
  [
    'packages/billing/src/features/refunds/test/refunds.test.ts',
    'a whole table, for each provider',
  ],
  [
    'packages/billing/src/features/sent-invoices/test/sent-invoices.test.ts',
    'every response is lost once',
  ],
  [
    'packages/billing/src/features/checkout/test/checkout.test.ts',
    'a whole table, for each provider',
  ],
  ['packages/oauth/test/threats/hostile-input.test.ts', 'a whole table of requests'],
  ['packages/server/test/admin/attacks.test.ts', 'a whole table, for each operation'],
  ['packages/server/test/admin/audit-contents.test.ts', 'every operation is run'],
  ['packages/server/test/admin/commands.test.ts', 'every command is run'],
  ['packages/server/test/admin/credit-notes.test.ts', 'each response is lost once'],
  ['packages/server/test/admin/invoices.test.ts', 'each response is lost once'],
  ['packages/server/test/admin/subscription-changes.test.ts', 'months of subscriptions'],
  ['packages/server/test/limits.test.ts', 'hundreds of sign-ins'],
]

/**
 * Tests that run on SQLite only. All others, including new ones, run on Postgres and MariaDB as
 * well. A file belongs here if it sends no statement that other tests do not send on those
 * databases (checked by `npm run check:statements`), and does not test races, locks, migrations or
 * values that databases treat differently.
 */
const sqliteIsEnough: readonly ListedTest[] = [
  // Frameworks, pages, guards and third-party clients: HTTP, on top of flows that run on every
  // database.
  ['packages/billing/test/adapters.test.ts', 'frameworks'],
  [
    'packages/billing/src/features/subscribe/test/archived-prices.test.ts',
    'what the provider takes',
  ],
  ['packages/billing/test/clock-skew.test.ts', 'what the provider takes'],
  [
    'packages/billing/src/features/customers/test/deleted-customers.test.ts',
    'what the provider has and takes',
  ],
  [
    'packages/billing/src/features/webhooks/test/ended-elsewhere.test.ts',
    'what the provider takes',
  ],
  [
    'packages/billing/src/features/confirmations/test/held-taxes.test.ts',
    'what the provider has and takes',
  ],
  [
    'packages/billing/src/features/confirmations/test/remembered-taxes.test.ts',
    'what the provider has and takes',
  ],
  ['packages/billing/src/features/mail/test/language.test.ts', 'what is printed'],
  ['packages/billing/test/messages.test.ts', 'what is refused before any statement'],
  ['packages/billing/test/pay-page.test.ts', 'the routes of a guide'],
  [
    'packages/billing/src/features/taxes/test/tax-changes.test.ts',
    'what the provider has and takes',
  ],
  ['packages/database/test/clock-of-file.test.ts', 'about SQLite, which has no clock'],
  ['packages/http/test', 'frameworks'],
  ['packages/oauth/test/adapters', 'frameworks'],
  ['packages/oauth/test/approval/application.test.ts', 'pages'],
  ['packages/oauth/test/approval/optional-scopes.test.ts', 'pages and scopes'],
  ['packages/oauth/test/clients', "other people's clients"],
  ['packages/oauth/test/cors', 'headers'],
  ['packages/oauth/test/device/clients.test.ts', "other people's clients"],
  ['packages/oauth/test/device/device.test.ts', 'pages; its races are in threats.test.ts'],
  ['packages/oauth/test/errors.test.ts', 'responses'],
  ['packages/oauth/test/exchange/exchange.test.ts', 'parameters and tokens'],
  [
    'packages/oauth/test/jwt-bearer/jwt-bearer.test.ts',
    'parameters and tokens; replays are in threats.test.ts',
  ],
  ['packages/oauth/test/fapi/clients.test.ts', "other people's clients"],
  ['packages/oauth/test/fapi/profile.test.ts', 'options and what is said of clients'],
  ['packages/oauth/test/mcp', "other people's clients"],
  ['packages/oauth/test/openid', 'ID tokens and claims'],
  ['packages/oauth/test/request-objects', 'signed requests'],
  ['packages/oauth/test/resources', 'audiences of tokens'],
  ['packages/oauth/test/registration/certificates.test.ts', 'requests to others'],
  [
    'packages/oauth/test/registration/authentication-methods.test.ts',
    'headers and forms; jwt-authentication.test.ts has the statements',
  ],
  ['packages/oauth/test/registration/clients.test.ts', "other people's clients"],
  ['packages/oauth/test/registration/documents.test.ts', 'requests to others'],
  ['packages/oauth/test/registration/jwks-uri.test.ts', 'requests to others'],
  ['packages/oauth/test/registration/logos.test.ts', 'pictures'],
  ['packages/oauth/test/registration/outgoing.test.ts', 'requests to others'],
  ['packages/oauth/test/logout/rp-initiated.test.ts', 'parameters and redirects'],
  ['packages/oauth/test/logout/back-channel.test.ts', 'requests to others; see deliveries.test.ts'],
  ['packages/oauth/test/logout/documents.test.ts', 'requests to others'],
  ['packages/oauth/test/dpop/clients.test.ts', "other people's clients"],
  ['packages/oauth/test/dpop/guards.test.ts', 'frameworks'],
  ['packages/oauth/test/dpop/nonces.test.ts', 'nonces, which are computed'],
  ['packages/oauth/test/dpop/token-endpoint.test.ts', 'headers and tokens'],
  ['packages/oauth/test/dpop/other-features.test.ts', 'flows that run everywhere'],
  ['packages/oauth/test/registration/openid-registration.test.ts', 'what is said of a client'],
  ['packages/oauth/test/registration/sectors.test.ts', 'requests to others'],
  ['packages/oauth/test/registration/policies.test.ts', 'settings'],
  ['packages/oauth/test/pushed/clients.test.ts', "other people's clients"],
  ['packages/oauth/test/pushed/pushed-requests.test.ts', 'parameters and redirects'],
  ['packages/oauth/test/introspection', 'responses'],
  ['packages/oauth/test/specification/authentication.test.ts', 'headers and forms'],
  ['packages/oauth/test/specification/authorize.test.ts', 'parameters and redirects'],
  ['packages/oauth/test/specification/cookie-mode.test.ts', 'cookies'],
  ['packages/oauth/test/specification/interaction.test.ts', 'pages and redirects'],
  ['packages/oauth/test/specification/limits.test.ts', 'lifetimes of tokens'],
  ['packages/oauth/test/specification/oauth-endpoints.test.ts', 'parameters and responses'],
  ['packages/oauth/test/step-up', 'frameworks'],
  ['packages/oauth/test/threats/account-ends.test.ts', 'sessions of the application'],
  ['packages/oauth/test/threats/authorization-endpoint.test.ts', 'parameters and redirects'],
  ['packages/oauth/test/threats/client-demands.test.ts', 'parameters and redirects'],
  ['packages/oauth/test/threats/fresh-sign-in.test.ts', 'sign-ins of the application'],
  ['packages/oauth/test/threats/guard.test.ts', 'headers and tokens'],
  ['packages/oauth/test/threats/removed-users.test.ts', 'users of the application'],
  ['packages/oauth/test/threats/mutated-standards.test.ts', 'parameters'],
  ['packages/oauth/test/threats/shared-secret.test.ts', 'keys and ciphers'],
  ['packages/server/test/account.test.ts', 'pages'],
  ['packages/server/test/recovery.test.ts', 'pages; recovery-races.test.ts sends the statements'],
  ['packages/server/test/second-factors.test.ts', 'pages; factors.test.ts has the statements'],
  ['packages/server/test/application/config-module.test.ts', 'how a module is loaded'],
  ['packages/server/test/approval-screen.test.ts', 'pages'],
  ['packages/server/test/assertions.test.ts', 'settings'],
  ['packages/server/test/billing-changes.test.ts', 'pages'],
  ['packages/server/test/billing-pages.test.ts', 'pages'],
  ['packages/server/test/billing-production.test.ts', 'pages'],
  ['packages/server/test/command-messages.test.ts', 'commands'],
  ['packages/server/test/client-limits.test.ts', 'who is counted; limits.test.ts has how'],
  [
    'packages/server/test/deliveries.test.ts',
    "commands; billing's event-deliveries.test.ts has the rows",
  ],
  ['packages/server/test/device.test.ts', 'pages'],
  ['packages/server/test/doctor-mcp.test.ts', 'requests to others'],
  ['packages/server/test/ending-accounts.test.ts', 'commands, pages and calls of a provider'],
  ['packages/server/test/interrupted-deletions.test.ts', 'calls of a provider'],
  ['packages/server/test/first-steps.test.ts', 'pages'],
  ['packages/server/test/home.test.ts', 'pages'],
  ['packages/server/test/hosted-pages.test.ts', 'pages'],
  ['packages/server/test/identity.test.ts', 'ID tokens and claims'],
  ['packages/server/test/init-files.test.ts', 'files'],
  ['packages/server/test/init-network.test.ts', 'files'],
  ['packages/server/test/init.test.ts', 'files'],
  ['packages/server/test/log.test.ts', 'lines of the log'],
  ['packages/server/test/request-ids.test.ts', 'lines of the log'],
  ['packages/server/test/open-telemetry.test.ts', 'traces and metrics'],
  ['packages/server/test/open-telemetry-process.test.ts', 'traces and metrics'],
  ['packages/server/test/fapi.test.ts', "other people's clients"],
  ['packages/server/test/mcp.test.ts', "other people's clients"],
  ['packages/server/test/opened-links.test.ts', 'pages'],
  ['packages/server/test/openid.test.ts', 'ID tokens and claims'],
  ['packages/server/test/interrupted-visits.test.ts', 'pages'],
  [
    'packages/server/test/wrong-clock.test.ts',
    'commands; processes/wrong-clock.test.ts has the databases',
  ],
  ['packages/server/test/pages.test.ts', 'pages'],
  ['packages/server/test/proxies.test.ts', 'addresses of callers'],
  ['packages/server/test/reading-commands.test.ts', 'what commands print'],
  ['packages/server/test/plans.test.ts', 'pages'],
  ['packages/server/test/seats.test.ts', 'pages'],
  ['packages/server/test/sign-in.test.ts', 'pages'],
  ['packages/server/test/sign-in-with-attacks.test.ts', 'ID tokens and pages'],
  ['packages/server/test/sign-in-with-presets.test.ts', 'requests to others'],
  ['packages/server/test/standards.test.ts', 'settings'],
  ['packages/server/test/standards-commands.test.ts', 'commands'],
  ['packages/server/test/distributed-attacks.test.ts', 'who is counted; limits.test.ts has how'],
  ['packages/server/test/switched-off-grants.test.ts', 'pages'],
  [
    'packages/server/test/teams/team-owners.test.ts',
    'commands and pages; team-races.test.ts has the rows',
  ],
  ['packages/server/test/teams/team-pages.test.ts', 'pages; team-races.test.ts has the rows'],
  ['packages/server/test/workers.test.ts', 'processes; processes.test.ts has the databases'],
  // Provider responses and amounts owed; their rows are written as in creating, webhooks and
  // specification/.
  ['packages/billing/src/features/subscribe/test/after-last-retry.test.ts', 'calls of a provider'],
  [
    'packages/billing/src/features/payments/test/amounts.test.ts',
    'what is refused before any statement',
  ],
  ['packages/billing/src/features/subscribe/test/another-card.test.ts', 'calls of a provider'],
  ['packages/billing/src/features/balance/test/balance.test.ts', 'money'],
  ['packages/billing/src/features/quantities/test/billed-quantities.test.ts', 'money'],
  ['packages/billing/src/features/swap/test/braintree-money.test.ts', 'money'],
  ['packages/billing/src/features/payment-methods/test/cards.test.ts', 'calls of a provider'],
  [
    'packages/billing/src/features/confirmations/test/challenged-changes.test.ts',
    'calls of a provider',
  ],
  [
    'packages/billing/src/features/confirmations/test/abandoned-invoices.test.ts',
    'calls of a provider',
  ],
  [
    'packages/billing/src/features/payment-methods/test/payment-methods.test.ts',
    'calls of a provider',
  ],
  ['packages/billing/src/features/checkout/test/checkout-payments.test.ts', 'calls of a provider'],
  ['packages/billing/src/features/checkout/test/checkout-return.test.ts', 'responses'],
  [
    'packages/billing/src/features/checkout/test/checkout.test.ts',
    'calls of a provider; see concurrent-checkout.test.ts',
  ],
  [
    'packages/billing/src/features/promotion-codes/test/replacement-codes.test.ts',
    'calls of a provider',
  ],
  ['packages/billing/src/features/credit-notes/test/credit-notes.test.ts', 'money'],
  ['packages/billing/src/features/customers/test/customer-details.test.ts', 'calls of a provider'],
  ['packages/billing/src/features/cancel/test/dates.test.ts', 'calls of a provider'],
  ['packages/billing/src/features/checkout/test/delayed-payments.test.ts', 'calls of a provider'],
  [
    'packages/billing/src/features/disputes/test/disputes.test.ts',
    'events of a provider; see counting.test.ts',
  ],
  ['packages/billing/test/documented.test.ts', 'calls of a provider'],
  ['packages/billing/src/features/trials/test/ended-early.test.ts', 'states of a provider'],
  ['packages/billing/src/features/webhooks/test/endpoints.test.ts', 'calls of a provider'],
  ['packages/billing/src/features/swap/test/frequency-swap.test.ts', 'money'],
  ['packages/billing/src/features/swap/test/frequency-swap-table.test.ts', 'money'],
  ['packages/billing/test/histories.test.ts', 'states of a provider'],
  ['packages/billing/src/features/invoices/test/invoice-events.test.ts', 'events of a provider'],
  ['packages/billing/src/features/invoices/test/invoice-route.test.ts', 'responses'],
  ['packages/billing/src/features/invoices/test/invoices.test.ts', 'money'],
  ['packages/billing/src/features/items/test/items.test.ts', 'calls of a provider'],
  ['packages/billing/test/lost-answers.test.ts', 'calls of a provider'],
  [
    'packages/billing/src/features/mail/test/mail.test.ts',
    'what is written; mail-queue.test.ts has the rows',
  ],
  ['packages/billing/src/features/subscribe/test/mixed-intervals.test.ts', 'calls of a provider'],
  [
    'packages/billing/test/killed-braintree.test.ts',
    'the writes of killed-stripe and killed-events',
  ],
  ['packages/billing/src/features/proration/test/money-back.test.ts', 'money'],
  ['packages/billing/src/features/proration/test/money-back-terms.test.ts', 'money'],
  ['packages/billing/src/features/proration/test/money-back-lives.test.ts', 'money'],
  ['packages/billing/src/features/payments/test/newest-payment.test.ts', 'calls of a provider'],
  ['packages/billing/src/features/subscribe/test/taken-names.test.ts', 'calls of a provider'],
  ['packages/billing/src/features/webhooks/test/other-events.test.ts', 'events of a provider'],
  ['packages/billing/src/features/swap/test/overdue.test.ts', 'money'],
  ['packages/billing/src/features/subscribe/test/past-due.test.ts', 'money'],
  [
    'packages/billing/src/features/pauses/test/pauses.test.ts',
    'calls of a provider; see counting.test.ts',
  ],
  ['packages/billing/src/features/payments/test/repeated-payments.test.ts', 'calls of a provider'],
  ['packages/billing/src/features/payments/test/payments.test.ts', 'calls of a provider'],
  [
    'packages/billing/src/features/schedules/test/planned-swap-recovery.test.ts',
    'calls of a provider',
  ],
  ['packages/billing/src/features/schedules/test/planned-swaps.test.ts', 'calls of a provider'],
  ['packages/billing/src/features/swap/test/previews.test.ts', 'money'],
  ['packages/billing/src/features/forecasts/test/previewed-invoices.test.ts', 'money'],
  [
    'packages/billing/src/features/promotion-codes/test/promotion-codes.test.ts',
    'calls of a provider; see code-attempts.test.ts',
  ],
  [
    'packages/billing/src/features/refunds/test/refunds.test.ts',
    'money; its races are in concurrent-changes.test.ts',
  ],
  ['packages/billing/test/saved-500.test.ts', 'calls of a provider'],
  ['packages/billing/test/scenarios.test.ts', 'states of a provider'],
  ['packages/billing/test/specification/endpoints.test.ts', 'paths and signatures'],
  ['packages/billing/test/specification/errors.test.ts', 'what is refused, here or by a provider'],
  [
    'packages/billing/test/specification/operations.test.ts',
    'calls of a provider; states.test.ts and owners.test.ts have the rows',
  ],
  [
    'packages/billing/src/features/subscribe/test/discounts-and-end-reason.test.ts',
    'states of a provider',
  ],
  ['packages/billing/src/features/subscribe/test/starts.test.ts', 'money'],
  ['packages/billing/src/features/taxes/test/taxes.test.ts', 'money'],
  ['packages/billing/src/features/subscribe/test/unpaid.test.ts', 'money'],
  ['packages/billing/src/features/taxes/test/line-taxes.test.ts', 'money'],
  ['packages/billing/src/features/usage/test/money.test.ts', 'money'],
  ['packages/billing/src/features/usage/test/late.test.ts', 'money'],
  [
    'packages/billing/src/features/usage/test/periods.test.ts',
    'money; charges.test.ts has the statements',
  ],
  ['packages/billing/src/features/usage/test/swaps.test.ts', 'money'],
  ['packages/billing/src/features/usage/test/unpaid.test.ts', 'money'],
  [
    'packages/billing/src/features/usage/test/unsent-usage.test.ts',
    'money; reports.test.ts has the statements',
  ],
  ['packages/billing/src/features/forecasts/test/upcoming.test.ts', 'money'],
  ['packages/billing/src/features/invoices/test/voiding.test.ts', 'money'],
  ['packages/billing/test/gateway-contract.test.ts', 'gateways, which know no database'],
  ['packages/billing/test/observer.test.ts', 'calls of a provider'],
  ['packages/billing/test/outside-provider', 'a gateway, over the flows of specification/'],
  // Tests without a database, or specific to this one.
  ['packages/database/test/acknowledged.test.ts', 'a file'],
  ['packages/database/test/sqlite-file.test.ts', 'a file'],
  ['packages/oauth/test/docs.test.ts', 'the docs'],
  ['packages/server/test/backups.test.ts', 'starts each database itself'],
  ['packages/server/test/docs.test.ts', 'the docs'],
  ['packages/server/test/mail-tls.test.ts', 'a mail server'],
  ['packages/server/test/smtp.test.ts', 'a mail server'],
  ['packages/server/test/sqlite-file.test.ts', 'a file'],
  ['packages/oauth/test/outside', 'what others write for the package'],
]

/** Tests of pages in a browser. */
const inChromium: readonly ListedTest[] = [
  ['packages/sandbox/test/chromium', 'a browser'],
  ['packages/server/test/chromium', 'a browser'],
]

function toGlobs(named: readonly ListedTest[]): string[] {
  return named.map(([path]) => {
    if (!existsSync(fileURLToPath(new URL(`../${path}`, import.meta.url)))) {
      throw new Error(`test-support/where-tests-run.ts names ${path}, which is not there`)
    }
    return path.endsWith('.test.ts') ? path : `${path}/**/*.test.ts`
  })
}

export const SLOW = toGlobs(slow)
export const SQLITE_IS_ENOUGH = toGlobs(sqliteIsEnough)
export const IN_CHROMIUM = toGlobs(inChromium)
